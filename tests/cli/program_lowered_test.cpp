// `palladion ptx --lowered` as people see it.
#include <gmock/gmock.h>

#include "tests/cli/program.h"
#include "tests/support/golden.h"

namespace palladion::cli {
namespace {

using testing::HasSubstr;

class LoweredOfProgram : public Program {};

TEST_F(LoweredOfProgram, SaysWhatBecomesOfEachInstruction) {
  const Ran ran = run("ptx --ptx tests/cli/ptx/saxpy.ptx --lowered");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(golden::compare("cli/lowered.txt", ran.out));
}

TEST_F(LoweredOfProgram, TakesKernelsAndWritesFiles) {
  ASSERT_EQ(run("ptx reduce_sum --shape n=8192 --lowered -o " + file("l.txt")).status, 0);
  EXPECT_THAT(read(file("l.txt")), HasSubstr("registers   "));
}

TEST_F(LoweredOfProgram, AnEntryMustBeNamedWhereThereAreSeveral) {
  const Ran ran = run("ptx --ptx tests/isa/ptx/reduction.ptx --lowered");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--entry"));
  EXPECT_EQ(run("ptx --ptx tests/isa/ptx/reduction.ptx --entry sum_integers --lowered").status, 0);
}

}  // namespace
}  // namespace palladion::cli
