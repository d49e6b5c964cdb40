// --suppress FILE: findings that are accepted, each with its reason. One a line:
//
//   PLD4308 kernels/gemm.cpp:41,kernels/gemm.cpp:77  # wgmma is drained before
//   PLD43*  *.cu                                     # any line of any .cu file
//
// A place is a file, or a glob, with or without a line; a path without a leading / also matches the end of a
// longer one. Every place must be among the finding's places; those without a source have the PTX file's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/findings/finding_text.h"
#include "cli/support/outcome.h"

namespace palladion::cli {

struct SuppressedPlace {
  std::string file;   // a glob
  uint32_t line = 0;  // 0: any
};

struct Suppression {
  std::string code;  // "PLD4308", "PLD43*"
  std::vector<SuppressedPlace> places;
  std::string reason;
  uint32_t line = 0;  // in the file of suppressions
  bool used = false;
};

struct Suppressions {
  std::string file;
  std::vector<Suppression> all;
};

// Every invalid line is reported with its number.
Outcome<Suppressions> parse_suppressions(std::string_view text, const std::string& file);
Outcome<Suppressions> read_suppressions(const std::string& file);

// Marks the suppressed findings, and the suppressions that matched.
void suppress(std::vector<SeenFinding>& findings, Suppressions& suppressions, std::string_view ptx_name);
// A line for each suppression that matched nothing; empty when all matched.
std::string unused_text(const Suppressions& suppressions);

}  // namespace palladion::cli
