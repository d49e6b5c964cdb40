// Races of random programs, lane by lane: the checkers report what an oracle finds that knows happens-before
// thread by thread, and nothing else. PLD_ORDER_PROGRAMS=100000 looks longer.
#include <cstdlib>

#include "tests/sim/check/checked.h"
#include "tests/sim/check/order_programs.h"

namespace palladion::tests::order {
namespace {

uint64_t number(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(RandomOrder, RacesAreThoseOfTheOracle) {
  const uint64_t first = number("PLD_ORDER_SEED", 1), programs = number("PLD_ORDER_PROGRAMS", 1500);
  uint64_t races = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = random_program(seed);
    const sim::RunResult r =
        sim::testing::checked(ptx_of(program), {1, 1, 1}, {threads, 1, 1}, 16 * slots + 8 * 64);
    ASSERT_TRUE(r.completed) << seed << "\n"
                             << text_of(program) << ptx_of(program) << sim::testing::PtxRunner::describe(r);
    const bool expected = has_race(program);
    races += expected ? 1 : 0;
    ASSERT_EQ(!r.findings.empty(), expected) << "seed " << seed << "\n"
                                             << text_of(program) << sim::testing::PtxRunner::describe(r);
  }
  std::printf("%llu programs, %llu with races\n", static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(races));
  EXPECT_GT(races, programs / 5);
  EXPECT_LT(races, programs - programs / 5);
}

}  // namespace
}  // namespace palladion::tests::order
