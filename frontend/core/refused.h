#pragma once
// A public name of Pallas that has no meaning here, or none on this chip: any use of it is an Error that says
// why, by name, at the author's line.
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <type_traits>

namespace palladion::plgpu {
class PickedRows;
}

namespace palladion::frontend {

class Refused;
// Severity unsupported, PLD2999.
[[noreturn]] void refuse(const Refused& word, const std::source_location& loc);
[[noreturn]] void refuse(const Refused& word);  // at the line of the last verb

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// An argument of any type, and where it stands.
struct AnyArgument {
  std::source_location loc;
  template <class T>
  AnyArgument(const T&, std::source_location l = std::source_location::current()) : loc(l) {}  // NOLINT
};

// A list in braces.
struct AnyArguments {
  AnyArguments(std::initializer_list<AnyArgument> /*list*/) {}
};

// The type of what a refused word would give; no object of it is ever made.
struct RefusedResult {
  template <class T>
    requires(!std::is_same_v<T, plgpu::PickedRows>)  // of overloads those that take a reference
  operator T() const {                               // NOLINT: in place of a result of any type
    std::abort();
  }
  // What authors do with a reference: the error of the refused word comes first.
  template <class... Arguments>
  RefusedResult at(const Arguments&... /*indices*/) const {
    return {};
  }
  RefusedResult index(const AnyArguments& /*indices*/) const { return {}; }
  RefusedResult transpose(const AnyArguments& /*permutation*/) const { return {}; }
  RefusedResult reshape(const AnyArguments& /*shape*/) const { return {}; }
  template <class... Arguments>
  RefusedResult bitcast(const Arguments&... /*dtype*/) const {
    return {};
  }
  RefusedResult squeeze() const { return {}; }
  template <class... Arguments>
  RefusedResult load(const Arguments&... /*layout*/) const {
    return {};
  }
  RefusedResult load_scalar() const { return {}; }
  template <class... Arguments>
  void store(const Arguments&... /*value*/) const {}
};

class Refused {
 public:
  // Literals: the name as authors write it, why, and what to write instead.
  constexpr Refused(const char* name, const char* reason, const char* instead = "")
      : name_(name), reason_(reason), instead_(instead) {}
  constexpr const char* name() const { return name_; }
  constexpr const char* reason() const { return reason_; }
  constexpr const char* instead() const { return instead_; }

  RefusedResult operator()(std::source_location loc = std::source_location::current()) const {
    refuse(*this, loc);
  }
  template <class... More>
  RefusedResult operator()(AnyArgument first, const More&...) const {
    refuse(*this, first.loc);
  }
  RefusedResult operator()(AnyArgument first, const AnyArguments& /*more*/) const {
    refuse(*this, first.loc);
  }
  template <class T>
    requires(!IsOptional<T>::value)
  operator T() const {  // NOLINT: a value where one is expected
    refuse(*this);
  }

 private:
  const char *name_, *reason_, *instead_;
};

}  // namespace palladion::frontend
