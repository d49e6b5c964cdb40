#include "isa/host/outcome.h"

#include <algorithm>

namespace palladion::host {
namespace {

tl::unexpected<Failure> fail(Failure::Kind kind, std::string_view word, const std::string& message,
                             const std::string& help) {
  std::string text = std::string(word) + ": " + message + "\n";
  if (!help.empty()) text += "   = help: " + help + "\n";
  return tl::make_unexpected(Failure{kind, std::move(text)});
}

}  // namespace

tl::unexpected<Failure> user_error(const std::string& message, const std::string& help) {
  return fail(Failure::Kind::mistake, "error", message, help);
}

tl::unexpected<Failure> unsupported(const std::string& message, const std::string& help) {
  return fail(Failure::Kind::unsupported, "unsupported", message, help);
}

tl::unexpected<Failure> not_written(const std::string& message) {
  return fail(Failure::Kind::not_written, "error", message, {});
}

tl::unexpected<Failure> not_in_this_version(const std::string& what, const std::string& help) {
  return unsupported(what + " is not in this version", help);
}

tl::unexpected<Failure> interruption(std::string text) {
  return tl::make_unexpected(Failure{Failure::Kind::interrupted, std::move(text)});
}

tl::unexpected<Failure> failure_of(const isa::Diagnostics& diagnostics, std::string_view source) {
  const bool unsupported_only = std::ranges::none_of(
      diagnostics, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::error; });
  return tl::make_unexpected(Failure{unsupported_only ? Failure::Kind::unsupported : Failure::Kind::mistake,
                                     isa::render(diagnostics, source)});
}

}  // namespace palladion::host
