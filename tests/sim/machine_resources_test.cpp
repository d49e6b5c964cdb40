// What a launch takes of an SM: registers, shared variables; and lanes that store at one address.
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

TEST(Machine, AWarpStartsWithNoMoreRegistersThanSetmaxnregGrants) {
  std::vector<uint32_t> out(256);
  PtxRunner k(ptx(R"(
.visible .entry k(.param .u64 out) .maxntid 256 .minnctapersm 1 {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p, %r1, 128;
  @%p bra PRODUCER;
  setmaxnreg.inc.sync.aligned.u32 232;
  bra.uni END;
PRODUCER:
  setmaxnreg.dec.sync.aligned.u32 40;
END:
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
)"));
  k.array(out).shape({1, 1, 1}, {256, 1, 1});
  k.run_clean();
  EXPECT_EQ(out[255], 255u);
}

// 65536 registers among 256 threads: the code uses 255 of a thread's 256, and a warp holds all of them.
TEST(Machine, AWarpHoldsWholeUnitsOfRegisters) {
  std::vector<uint32_t> out(256);
  PtxRunner k(ptx(R"(
.visible .entry k(.param .u64 out) .reqntid 256 .maxnreg 256 {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  setmaxnreg.inc.sync.aligned.u32 256;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
)"));
  k.array(out).shape({1, 1, 1}, {256, 1, 1});
  k.run_clean();
  EXPECT_EQ(out[255], 255u);
}

// As ptxas lays it out: dynamic shared memory begins behind the variables that this kernel uses.
TEST(Machine, SharedVariablesOfOtherKernelsTakeNoRoom) {
  std::vector<uint32_t> out(2);
  PtxRunner k(ptx(R"(
.extern .shared .align 16 .b8 dynamic[];
.extern .shared .align 1024 .b8 aligned[];
.shared .align 8 .b8 unnamed[40];
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  .shared .align 8 .b8 mine[48];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, dynamic;
  mov.u32 %r2, %total_smem_size;
  st.global.v2.u32 [%rd1], {%r1, %r2};
  ret;
}
.visible .entry other(.param .u64 out) {
  .reg .b32 %r<4>;
  .shared .align 8 .b8 theirs[64];
  mov.u32 %r1, aligned;
  st.shared.u32 [theirs], %r1;
  st.shared.u32 [unnamed], %r1;
  ret;
}
)"));
  k.launch.entry = "k";
  k.launch.dynamic_shared = 256;
  k.array(out);
  k.run_clean();
  const auto reserved = static_cast<uint32_t>(isa::default_arch().reserved_shared_bytes_per_cta);
  EXPECT_EQ(out[0], reserved + 48);
  EXPECT_EQ(out[1], 48U + 256);  // without what the system reserves: as on an H200
}

// An H100: bench/device/store_lanes.cu. All lanes of `mask` store their number at one address.
TEST(Machine, OfLanesThatStoreAtOneAddressAnH100sLaneStays) {
  const auto kept = [](const std::string& store, uint32_t mask) {
    std::vector<uint32_t> out(8, 99);
    const RunResult r = PtxRunner(ptx(fmt::format(R"(
.visible .entry k(.param .u64 out) {{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd2, %r1;
  mov.u32 %r2, {};
  shr.u32 %r2, %r2, %r1;
  and.b32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 {};
  ret;
}}
)",
                                                  mask, store)))
                            .array(out)
                            .shape({1, 1, 1}, {32, 1, 1})
                            .run_clean();
    EXPECT_GT(r.instructions, 0U);
    return out[0];
  };
  for (const char* store :
       {"st.global.u8 [%rd1], %r1", "st.global.u16 [%rd1], %r1", "st.global.u32 [%rd1], %r1"}) {
    const bool partial = std::string(store).find("u32") == std::string::npos;
    EXPECT_EQ(kept(store, ~0U) & (partial ? 0xFF : ~0U), 0U) << store;
    EXPECT_EQ(kept(store, 0xFFF0FFE0) & (partial ? 0xFF : ~0U), 5U) << store;
  }
  for (const char* store : {"st.global.u64 [%rd1], %rd2", "st.global.v2.u32 [%rd1], {%r1, %r1}"}) {
    EXPECT_EQ(kept(store, ~0U), 16U) << store;
    EXPECT_EQ(kept(store, 0x0000FFFE), 1U) << store;
    EXPECT_EQ(kept(store, 0x80400002), 22U) << store;
  }
  for (const char* store :
       {"st.global.v2.u64 [%rd1], {%rd2, %rd2}", "st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1}"}) {
    EXPECT_EQ(kept(store, ~0U), 24U) << store;
    EXPECT_EQ(kept(store, 0x00FFFFFF), 16U) << store;
    EXPECT_EQ(kept(store, 0x8800800F), 27U) << store;
  }
}

}  // namespace
}  // namespace palladion::sim::testing
