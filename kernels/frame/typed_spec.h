#pragma once
// A kernel's description from a struct of its sizes and settings: each is declared once, with its default in
// the struct and its range in the description.
//
//   struct Add { int64_t n = 4096, tile = 1024; };
//   plgpu::Kernel add(const Add& c);
//   KernelSpec spec = Spec("add", "out = a + b", add)
//                         .size("n", &Add::n, "elements")
//                         .setting("tile", &Add::tile, "elements a CTA", {.min = 128, .multiple_of = 128})
//                         .arrays({"a", "b"}, {"out"});
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/frame/rules.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

namespace detail {
// The words of settings.
std::string word_of(bool value);
std::string word_of(pl::DType value);
std::vector<std::string> words_of(const std::vector<pl::DType>& values);
Setting setting_of(std::string name, std::string fallback, std::string doc, std::vector<std::string> allowed,
                   Range range = {});
std::vector<Array> one_array(Array array);
// An Error where no such chip is known.
std::string known_chip(const std::string& name, const std::source_location& loc);
}  // namespace detail

// `Config` is default constructible and copyable. Names are those of --shape and --set.
template <class Config>
class Spec {
 public:
  // `build` records the kernel for a choice of sizes and settings; it throws what plgpu::kernel throws, and
  // what Rules throws for a choice that is not possible.
  Spec(std::string name, std::string doc, plgpu::Kernel (*build)(const Config&)) : build_(build) {
    spec_.name = std::move(name);
    spec_.doc = std::move(doc);
  }

  // --shape NAME=N, a positive number.
  template <class Int>
    requires std::is_integral_v<Int>
  Spec& size(const std::string& name, Int Config::* member, std::string doc, Range range = {}) {
    spec_.sizes.push_back({name, int64_t(Config{}.*member), std::move(doc), range});
    return take([=](const Choice& from, Config& to) { to.*member = Int(from.size(name)); });
  }
  // --set NAME=N.
  template <class Int>
    requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>)
  Spec& setting(const std::string& name, Int Config::* member, std::string doc, Range range = {}) {
    spec_.settings.push_back(
        detail::setting_of(name, std::to_string(Config{}.*member), std::move(doc), {}, range));
    return take([=](const Choice& from, Config& to) { to.*member = Int(from.number(name)); });
  }
  // --set NAME=N, a number of CTAs whose default follows the chip: `per_sm` for each SM.
  template <class Int>
    requires std::is_integral_v<Int>
  Spec& ctas(const std::string& name, Int Config::* member, int per_sm, std::string doc) {
    spec_.settings.push_back(ctas_setting(name, per_sm, std::move(doc)));
    return take([=](const Choice& from, Config& to) { to.*member = Int(from.number(name)); });
  }
  // --set NAME=X, a floating-point number, such as a scale. A kernel that gives it to KernelOptions::scalars
  // is the same program for all its values.
  template <class Real>
    requires std::is_floating_point_v<Real>
  Spec& setting(const std::string& name, Real Config::* member, std::string doc, RealRange range = {}) {
    spec_.settings.push_back(real_setting(name, double(Config{}.*member), std::move(doc), range));
    return take([=](const Choice& from, Config& to) { to.*member = Real(from.real(name)); });
  }
  // --set NAME=0 or 1.
  Spec& setting(const std::string& name, bool Config::* member, std::string doc) {
    spec_.settings.push_back(
        detail::setting_of(name, detail::word_of(Config{}.*member), std::move(doc), {"0", "1"}));
    return take([=](const Choice& from, Config& to) { to.*member = from.flag(name); });
  }
  // --set NAME=WORD, one of those that are allowed.
  Spec& setting(const std::string& name, std::string Config::* member, std::string doc,
                std::vector<std::string> allowed) {
    spec_.settings.push_back(detail::setting_of(name, Config{}.*member, std::move(doc), std::move(allowed)));
    return take([=](const Choice& from, Config& to) { to.*member = from.word(name); });
  }
  // --set NAME=f16.
  Spec& setting(const std::string& name, pl::DType Config::* member, std::string doc,
                const std::vector<pl::DType>& allowed) {
    spec_.settings.push_back(detail::setting_of(name, detail::word_of(Config{}.*member), std::move(doc),
                                                detail::words_of(allowed)));
    return take([=](const Choice& from, Config& to) { to.*member = from.dtype(name); });
  }

  // The chip that the kernel is for where the command line names none: "b200". `list arch` names them.
  Spec& arch(const std::string& chip, std::source_location loc = std::source_location::current()) {
    spec_.chip = detail::known_chip(chip, loc);
    return *this;
  }
  // The names of the kernel's arrays, in its order, for messages, --in and --out. Without them: in0, out0,
  // ...
  Spec& arrays(std::vector<std::string> inputs, std::vector<std::string> outputs) {
    spec_.inputs = std::move(inputs);
    spec_.outputs = std::move(outputs);
    return *this;
  }
  // f(config, seed) -> std::vector<Array>, of the types that the kernel takes. Without it: normal numbers.
  template <class F>
  Spec& inputs(F f) {
    spec_.make_inputs = [config = config_, f](const Choice& choice, uint64_t seed) {
      return f(config->from(choice), seed);
    };
    return *this;
  }
  // f(config, inputs) -> the expected output: an Array, or a std::vector<Array> of several.
  template <class F>
  Spec& reference(F f) {
    spec_.reference = [config = config_, f](const Choice& choice, const std::vector<Array>& inputs) {
      using Result = std::invoke_result_t<const F&, const Config&, const std::vector<Array>&>;
      if constexpr (std::is_same_v<Result, Array>)
        return detail::one_array(f(config->from(choice), inputs));
      else
        return f(config->from(choice), inputs);
    };
    return *this;
  }
  // How far an output may be from the reference. Without it: equal bit by bit.
  Spec& tolerance(Tolerance tolerance) {
    spec_.tolerance = [tolerance](const Choice&) { return tolerance; };
    return *this;
  }

  operator KernelSpec() const {  // NOLINT: a list of kernels is written with Specs
    KernelSpec spec = spec_;
    spec.build = [config = config_, build = build_](const Choice& choice) {
      return build(config->from(choice));
    };
    return spec;
  }

 private:
  // The members that a choice sets.
  struct Members {
    std::vector<std::function<void(const Choice&, Config&)>> setters;
    Config from(const Choice& choice) const {
      Config config;
      for (const auto& set : setters) set(choice, config);
      return config;
    }
  };
  template <class F>
  Spec& take(F set) {
    config_->setters.push_back(std::move(set));
    return *this;
  }

  KernelSpec spec_;
  plgpu::Kernel (*build_)(const Config&);
  std::shared_ptr<Members> config_ = std::make_shared<Members>();
};

}  // namespace palladion::kernels
