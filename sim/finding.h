#pragma once
// What the machine reports about a run: faults, deadlocks, unsupported instructions.
#include <cstdint>
#include <string>
#include <vector>

#include "isa/diagnostic.h"
#include "isa/module.h"

namespace palladion::sim {

enum class FindingSeverity : uint8_t { error, strict, unknown, unsupported };

// Where in the grid something happened.
struct Site {
  isa::Dim3 cta{0, 0, 0};
  uint32_t warp = 0;
  uint32_t lanes = 0;       // mask of the lanes concerned
  uint32_t ptx_line = 0;    // 0 = unknown
  isa::SourceLoc source;    // the author's line, when known
  std::string instruction;  // its PTX text
};

struct Finding {
  std::string code;  // "PLD3001"
  FindingSeverity severity = FindingSeverity::error;
  bool fatal = false;  // the grid was stopped
  std::string message;
  std::vector<Site> sites;
  std::vector<std::string> notes;
  std::string help;
  uint64_t count = 1;
};

std::string render(const Finding& finding);

}  // namespace palladion::sim
