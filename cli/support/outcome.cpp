#include "cli/support/outcome.h"

#include <algorithm>

namespace palladion::cli {
namespace {

tl::unexpected<Failure> fail(ExitCode code, std::string_view word, const std::string& message,
                             const std::string& help) {
  std::string text = std::string(word) + ": " + message + "\n";
  if (!help.empty()) text += "   = help: " + help + "\n";
  return tl::make_unexpected(Failure{code, std::move(text)});
}

}  // namespace

tl::unexpected<Failure> user_error(const std::string& message, const std::string& help) {
  return fail(exit_user_error, "error", message, help);
}

tl::unexpected<Failure> unsupported(const std::string& message, const std::string& help) {
  return fail(exit_unsupported, "unsupported", message, help);
}

tl::unexpected<Failure> not_written(const std::string& message) {
  return fail(exit_not_written, "error", message, {});
}

tl::unexpected<Failure> not_in_this_version(const std::string& what, const std::string& help) {
  return unsupported(what + " is not in this version", help);
}

tl::unexpected<Failure> failure_of(const isa::Diagnostics& diagnostics, std::string_view source) {
  const bool unsupported_only = std::ranges::none_of(
      diagnostics, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::error; });
  return tl::make_unexpected(Failure{unsupported_only ? exit_unsupported : exit_user_error,
                                     isa::render(diagnostics, source),
                                     diagnostics.empty() ? isa::CodeNumber() : diagnostics.front().code});
}

}  // namespace palladion::cli
