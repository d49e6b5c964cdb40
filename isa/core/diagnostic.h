#pragma once
// A message to the user: code, place, reason, help. All errors are collected, not only the first.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "isa/core/code_text.h"

namespace palladion::isa {

// A place in a source text. Lines and columns count from 1; 0 means unknown.
struct SourceLoc {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool known() const { return line != 0; }
  friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};

// A place within a function, which may have been inlined.
struct Frame {
  SourceLoc at;
  std::string function;  // its symbol; empty: the kernel's or function's own text
  friend bool operator==(const Frame&, const Frame&) = default;
};
// From the innermost outwards.
using Frames = std::vector<Frame>;

enum class Severity : uint8_t { error, warning, unsupported };

struct Diagnostic {
  CodeNumber code;  // stable, e.g. PLD1001
  Severity severity = Severity::error;
  std::string message;
  SourceLoc loc;
  std::string help;
};

using Diagnostics = std::vector<Diagnostic>;

// A user's error, thrown where no value can be returned (while a kernel is recorded).
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic d) : Error(Diagnostics{std::move(d)}) {}
  explicit Error(Diagnostics d)
      : std::runtime_error(d.empty() ? "error" : d.front().message), diagnostics_(std::move(d)) {}
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

// Renders diagnostics as text with the source line and a caret; `source` is the text that `loc`s of
// an empty file name refer to (PTX from memory).
std::string render(const Diagnostics& diagnostics, std::string_view source = {});

// A line (from 1) of a regular file, without its end, at most 64 KiB of it; empty when there is none. A
// device or a pipe is not read.
std::string line_of_file(const std::string& path, uint32_t line);

[[noreturn]] void check_failed(const char* expression, const char* file, int line, const std::string& detail);

}  // namespace palladion::isa

// An internal error, never the user's: no input may cause one.
#define PLD_CHECK(expression, ...) \
  ((expression) ? void(0)          \
                : ::palladion::isa::check_failed(#expression, __FILE__, __LINE__, std::string(__VA_ARGS__)))
