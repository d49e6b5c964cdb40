#include "sim/launch/fault.h"

#include <utility>

namespace palladion::sim {

Finding fault(Code code, std::string message, std::string help, FindingSeverity severity) {
  Finding f;
  f.code = code;
  f.severity = severity;
  f.fatal = true;
  f.what = Fault{std::move(message), std::move(help)};
  return f;
}

isa::Diagnostic refusal(Code code, std::string message, std::string help, isa::Severity severity) {
  isa::Diagnostic d;
  d.code = code;
  d.severity = severity;
  d.message = std::move(message);
  d.help = std::move(help);
  return d;
}

}  // namespace palladion::sim
