// Random programs, made again from their seeds, give the bits that a device gave.
#include <gtest/gtest.h>

#include "tests/property/random/random_run.h"

namespace palladion::random_program {
namespace {

const std::string folder = PLD_SOURCE_DIR "/tests/device/";

TEST(RecordedPrograms, GiveTheBitsOfTheDevice) {
  const Catalogue catalogue(read_forms(folder + "random_forms.txt"));
  const std::vector<Recorded> recorded = read_recorded(folder + "random_programs.csv");
  ASSERT_GE(recorded.size(), 900U);
  int changed = 0;
  for (const Recorded& r : recorded) {
    const Program program = generate(catalogue, r.seed);
    if (program_hash(program) != r.program) {
      ++changed;
      continue;
    }
    const SimRun run = run_in_machine(program, {.threads = 1});
    ASSERT_EQ(run.problem, "") << "seed " << r.seed;
    EXPECT_EQ(hash(run.output.data(), run.output.size()), r.output) << "seed " << r.seed;
  }
  EXPECT_EQ(changed, 0)
      << "programs are not those that were recorded: record them again with bench_device_random";
}

}  // namespace
}  // namespace palladion::random_program
