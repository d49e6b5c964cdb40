#include "sim/launch/fault.h"

#include <utility>

namespace palladion::sim {

Finding fault(Code code, Statement message, Statement help, FindingSeverity severity) {
  Finding f;
  f.code = code;
  f.severity = severity;
  f.fatal = true;
  f.what = Fault{};
  f.message = std::move(message);
  f.help = std::move(help);
  return f;
}

isa::Diagnostic refusal(Code code, std::string message, std::string help, isa::Severity severity) {
  isa::Diagnostic d;
  d.code = code;
  d.severity = severity;
  d.message = std::move(message);
  d.help = help.empty() ? std::string(text_of(code).fix) : std::move(help);
  return d;
}

}  // namespace palladion::sim
