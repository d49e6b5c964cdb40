// Events number the phases of an mbarrier; observers count none.
#include <gmock/gmock.h>

#include "sim/launch/phases.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;

struct PhaseLog final : Observer {
  void observe(ClusterState&, ClusterEvents& events) override { events.add(*this); }
  void on(const MbarrierEvent& e) {
    using A = isa::MbarrierAction;
    const bool waits = e.action == A::test_wait || e.action == A::try_wait;
    const char* what = e.action == A::init    ? "init "
                       : e.action == A::inval ? "inval "
                       : e.async_id != 0      ? "copy "
                       : !waits               ? "arrive "
                       : e.succeeded          ? "saw "
                                              : "awaits ";
    log.push_back(what + std::to_string(e.phase) + (e.completed ? ", complete" : ""));
  }
  std::vector<std::string> log;
};

TEST(MbarrierPhases, EventsStateTheNumberOfThePhase) {
  std::vector<uint32_t> array(64);
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 full;
  .shared .align 128 .b8 tile[256];
  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [array];
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.test_wait.parity.shared.b64 %p1, [full], 1;
  mbarrier.test_wait.parity.shared.b64 %p1, [full], 0;
  mbarrier.arrive.shared.b64 _, [full];
  mbarrier.test_wait.parity.shared.b64 %p1, [full], 0;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];
$wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 1;
  @!%p2 bra $wait;
  mbarrier.inval.shared.b64 [full];
  mbarrier.init.shared.b64 [full], 2;
  mbarrier.arrive.shared.b64 _, [full];
  ret;
})"));
  runner.array(array).shape({1, 1, 1}, {1, 1, 1});
  PhaseLog phases;
  RunOptions options;
  options.observer = &phases;
  runner.run_clean(options);
  EXPECT_THAT(phases.log,
              ElementsAre("init 0", "saw -1", "awaits 0", "arrive 0, complete", "saw 0", "arrive 1",
                          "copy 1, complete", "saw 1", "inval 2", "init 0", "arrive 0"));
}

TEST(MbarrierPhases, ANewPhaseIsKeptInThePlaceOfTheOneTwoBeforeIt) {
  NewestPhases<int> phases;
  EXPECT_EQ(phases[-1], 0);
  phases[0] = 10;
  phases[1] = 11;
  EXPECT_EQ(phases[0], 10);
  EXPECT_EQ(phases[1], 11);
  EXPECT_EQ(phases[2], 0);
  EXPECT_EQ(phases[1], 11);
}

}  // namespace
}  // namespace palladion::sim::testing
