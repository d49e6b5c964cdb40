#pragma once
// What the driver's PTX compiler says, as data. Its lines read
//   ptxas application ptx input, line 7; error   : Not a name of any known instruction: 'foo'
//   ptxas info    : Used 40 registers, used 1 barriers
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/diagnostic.h"

namespace palladion::cuda::native {

struct JitMessage {  // one message of the driver's PTX compiler
  // As the log says.
  enum class Kind : uint8_t { error, warning, info } kind;
  uint32_t line = 0;  // of the PTX; 0 when the message has none
  std::string text;   // one line
  friend bool operator==(const JitMessage&, const JitMessage&) = default;
};
std::vector<JitMessage> parse_jit_log(std::string_view log);  // The driver's compiler log, line by line.

// What each entry takes, from a verbose info log. A module from the driver's compilation
// cache has no such lines.
struct ResourceUse {
  int registers = 0;          // a thread
  int stack_bytes = 0;        // a thread, as the spills
  int spill_store_bytes = 0;  // stored by a thread, for lack of registers
  int spill_load_bytes = 0;   // loaded by a thread, for lack of registers
  int barriers = 0;           // named ones, of a CTA
  int shared_bytes = 0;       // static, of a CTA
  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};
// What ptxas -v says of each entry.
std::map<std::string, ResourceUse, std::less<>> parse_resource_use(std::string_view log);

// A remark on how a kernel's code is made, "(C7513) Potential Performance Loss: ... in the function 'f'", or
// of what ptxas injects: "(C7517) warpgroup.wait is injected in around line 29 by compiler ...".
struct CompilerRemark {
  std::string code;      // "C7513"
  std::string function;  // in which; empty: it names none
  uint32_t line = 0;     // of the PTX, about; 0: it names none
  std::string text;      // without its code
  friend bool operator==(const CompilerRemark&, const CompilerRemark&) = default;
};
// In the order of the log, each once.
std::vector<CompilerRemark> parse_remarks(std::string_view log);

// The place that the last `.loc` before a PTX line names: where the author wrote what became that line.
isa::SourceLoc author_location(std::string_view ptx, uint32_t line);

// Errors (or, if there are none, `fallback`) as diagnostics with the PTX line and the author's line.
isa::Diagnostics jit_diagnostics(std::string_view log, std::string_view ptx, const std::string& fallback);

}  // namespace palladion::cuda::native
