#pragma once
// What a program under `palladion exec` says of itself while it runs, through a pipe that exec made: the
// report is exec's, and complete however the program ends. A record is a JSON value under a key; the newest
// one of a key counts.
#include <climits>
#include <cstddef>
#include <cstdint>

namespace palladion::report {

struct ExecKey {
  enum class Kind : uint32_t {
    program,      // its name
    launches,     // of one kernel with one grid and block: the row of the table
    findings,     // of such launches: {"findings", "incomplete": reasons}
    remarks,      // of all launches, as texts: what is no mistake by itself
    unsupported,  // {"call", "count"}
    computed,     // {"call", "count"}: of a library, on the host
    errors        // a number
  };
  Kind kind{};
  uint32_t number = 0;  // of the row, of the call; 0 where there is one value
  friend auto operator<=>(const ExecKey&, const ExecKey&) = default;
};
inline constexpr uint32_t host_findings = UINT32_MAX;  // in place of a row: of the order of operations

// A record lies in the pipe in parts, each written as a whole (PIPE_BUF): those of several processes do not
// mix, and none is half there.
struct ExecPart {
  uint64_t sender = 0;  // a program in a process
  ExecKey key;
  uint32_t bytes = 0;  // that follow
  uint32_t last = 0;   // 1: the record ends with it
};
inline constexpr size_t most_of_part = PIPE_BUF - sizeof(ExecPart);

}  // namespace palladion::report
