#pragma once
// Executions of random programs and what differs between two of them.
#include <string>
#include <vector>

#include "sim/machine.h"
#include "tests/property/random/random_program.h"

namespace palladion::random_program {

struct SimRun {
  std::string problem;  // errors and findings; empty when clean
  sim::RunResult result;
  std::vector<uint8_t> output;
};
SimRun run_in_machine(const Program& program, const sim::RunOptions& options = {});

// A step whose results differ although all it read is equal.
struct Difference {
  size_t step = 0;
  uint32_t thread = 0, threads = 0;  // the first, how many
  std::string text;                  // the step, what it read and what it gave
};
std::vector<Difference> differences(const Program& program, const std::vector<uint8_t>& left,
                                    const std::vector<uint8_t>& right);

uint64_t hash(const void* data, size_t bytes);

// A line of random_programs.csv: "seed;hash of the program;hash of its output".
struct Recorded {
  uint64_t seed = 0, program = 0, output = 0;
};
std::vector<Recorded> read_recorded(const std::string& path);
uint64_t program_hash(const Program& program);

}  // namespace palladion::random_program
