// Matrix descriptors (WG-08, WG-09) and where swizzled tiles start (TM-05).
#include <array>

#include "isa/formats/matrix_descriptor.h"
#include "isa/formats/tensor_map.h"
#include "tests/sim/check/registers_observer.h"
#include "tests/sim/check/said.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One wgmma m64n8k16 with A (2048 bytes) and B (256 bytes) in an array of 4096; `change` may spoil %rd1, the
// descriptor of A, or %rd2, that of B.
std::vector<Finding> after(const std::string& change) {
  PtxRunner runner(ptx(R"(.visible .entry k() .reqntid 128
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  .shared .align 1024 .b8 tile[4096];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %rd1, %r1;
  or.b64 %rd1, %rd1, 0x1000080000;
  add.u64 %rd2, %rd1, 128;
  setp.ne.u32 %p1, %r0, %r0;
)" + change + R"(
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  ret;
}
)"));
  runner.shape({1, 1, 1}, {128, 1, 1});
  return findings_of(runner);
}

TEST(Descriptors, RightOneIsSilent) { EXPECT_THAT(after(""), IsEmpty()); }

void expect_differing(const std::string& operand, const std::vector<Finding>& found) {
  ASSERT_THAT(said_by(found),
              ElementsAre(Said{"PLD4409", FindingSeverity::error, Phrase::differing_descriptors}));
  EXPECT_EQ(std::get<std::string>(found[0].message.values.at(0)), operand);
}

TEST(Descriptors, OneAWarp) {
  expect_differing("A", after("shr.u32 %r2, %r0, 5; cvt.u64.u32 %rd3, %r2; mad.lo.u64 %rd1, %rd3, 2, %rd1;"));
}

TEST(Descriptors, OneALane) {
  expect_differing("B", after("and.b32 %r2, %r0, 1; cvt.u64.u32 %rd3, %r2; add.u64 %rd2, %rd2, %rd3;"));
}

TEST(Descriptors, ReservedBits) {
  EXPECT_THAT(said_by(after("or.b64 %rd1, %rd1, 0x4000;")),
              ElementsAre(strict("PLD4409", Phrase::reserved_bits)));
  const auto found = after("or.b64 %rd1, %rd1, 0x6000000000000;");
  ASSERT_THAT(said_by(found), ElementsAre(strict("PLD4409", Phrase::wrong_base_offset)));
  EXPECT_EQ(std::get<std::string>(found[0].message.values.at(0)), "A");
  EXPECT_EQ(std::get<int64_t>(found[0].message.values.at(1)), 3);
}

TEST(Descriptors, BeyondSharedMemory) {
  const auto found = after("or.b64 %rd1, %rd1, 0x8000000000;");
  const Said outside{"PLD4408", FindingSeverity::error, Phrase::wgmma_reads_outside};
  ASSERT_THAT(said_by(found), ElementsAre(outside));
  ASSERT_EQ(found[0].notes.size(), 2u);
  EXPECT_EQ(std::get<Object>(found[0].notes[0].values.at(0)).kind, Object::Kind::descriptor);
  const auto of_b = after("mov.u64 %rd2, 0x1000080000;");
  ASSERT_THAT(said_by(of_b), ElementsAre(outside));
  EXPECT_EQ(std::get<int64_t>(of_b[0].message.values.at(0)), 256);
}

// A box of 64 x 8 halves with a swizzle of 128 bytes, `offset` bytes into an array that is aligned to 1024.
std::vector<Finding> tensor_load(int offset, int rows) {
  isa::TensorMap map;
  map.data_type = isa::TensorDataType::f16;
  map.rank = 2;
  map.dims = {64, 64};
  map.strides = {128};
  map.box = {64, static_cast<uint32_t>(rows)};
  map.swizzle = isa::Swizzle::b128;
  PtxRunner runner(ptx(R"(.visible .entry k(.param .align 64 .b8 map[128])
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b64 full;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 mbarrier.init.shared::cta.b64 [full], 1;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], )" +
                       std::to_string(128 * rows) + R"(;
  mov.u32 %r2, tile;
  add.u32 %r2, %r2, )" +
                       std::to_string(offset) + R"(;
  mov.u32 %r3, 0;
  @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r3}], [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ret;
}
)"));
  std::vector<uint16_t> values(4096);
  map.global_address =
      runner.machine().memory().bind({reinterpret_cast<uint8_t*>(values.data()), 8192}, "values");
  runner.scalar(isa::encode(map));
  return findings_of(runner);
}

TEST(Descriptors, SwizzledTileStartsAtItsPattern) {
  EXPECT_THAT(tensor_load(1024, 8), IsEmpty());
  const auto found = tensor_load(512, 8);
  ASSERT_THAT(said_by(found), ElementsAre(strict("PLD4305", Phrase::tile_within_pattern)));
  EXPECT_EQ(std::get<int64_t>(found[0].message.values.at(0)), 512);
  EXPECT_THAT(tensor_load(512, 4), IsEmpty());  // a part of a pattern
}

}  // namespace
}  // namespace palladion::sim::testing
