// Values that PTX leaves open, or defines at the edges of a range.
#include "tests/cuda/driver/answers/kernel.h"

namespace palladion::answers {
namespace {

const std::string shared_array = ".shared .align 128 .b8 s[1024];";

// Answers %r9 of the first lanes.
Kernel value(const char* name, const std::string& body, unsigned block = 32, unsigned words = 4,
             const std::string& declared = {}) {
  const std::string out = "mul.wide.u32 %rd8, %r0, 4; add.u64 %rd8, %rd0, %rd8; st.global.u32 [%rd8], %r9;";
  return {name, body + out, block, 1, 1, 0, words, declared};
}

}  // namespace

std::vector<Kernel> values() {
  return {
      value("divide_by_zero", "cvt.u32.u64 %r1, %rd1; div.u32 %r9, %r0, %r1;"),
      value("divide_signed_by_zero", "cvt.u32.u64 %r1, %rd1; sub.u32 %r2, %r0, 2; div.s32 %r9, %r2, %r1;"),
      value("remainder_by_zero", "cvt.u32.u64 %r1, %rd1; rem.u32 %r9, %r0, %r1;"),
      value("remainder_signed_by_zero", "cvt.u32.u64 %r1, %rd1; sub.u32 %r2, %r0, 2; rem.s32 %r9, %r2, %r1;"),
      value("remainder_u64_by_zero",
            "mov.u64 %rd3, %rd1; cvt.u64.u32 %rd4, %r0; rem.u64 %rd5, %rd4, %rd3; cvt.u32.u64 %r9, %rd5;"),
      value("remainder_s64_by_zero",
            "mov.u64 %rd3, %rd1; cvt.u64.u32 %rd4, %r0; neg.s64 %rd4, %rd4; rem.s64 %rd5, %rd4, %rd3; "
            "cvt.u32.u64 %r9, %rd5;"),
      value("remainder_u16_by_zero",
            "cvt.u16.u64 %h1, %rd1; cvt.u16.u32 %h2, %r0; rem.u16 %h3, %h2, %h1; cvt.u32.u16 %r9, %h3;"),
      value("remainder_s16_by_zero",
            "cvt.u16.u64 %h1, %rd1; cvt.u16.u32 %h2, %r0; neg.s16 %h2, %h2; rem.s16 %h3, %h2, %h1; "
            "cvt.u32.u16 %r9, %h3;"),
      value("divide_u16_by_zero",
            "cvt.u16.u64 %h1, %rd1; cvt.u16.u32 %h2, %r0; div.u16 %h3, %h2, %h1; cvt.u32.u16 %r9, %h3;"),
      value("divide_s16_by_zero",
            "cvt.u16.u64 %h1, %rd1; cvt.u16.u32 %h2, %r0; neg.s16 %h2, %h2; div.s16 %h3, %h2, %h1; "
            "cvt.u32.u16 %r9, %h3;"),
      value("divide_s64_by_zero",
            "mov.u64 %rd3, %rd1; cvt.u64.u32 %rd4, %r0; neg.s64 %rd4, %rd4; div.s64 %rd5, %rd4, %rd3; "
            "cvt.u32.u64 %r9, %rd5;"),
      value("divide_least_by_minus_one",
            "mov.u32 %r1, -1; mov.u32 %r2, 0x80000000; add.u32 %r2, %r2, %r0; div.s32 %r9, %r2, %r1;"),
      value("divide_u64_by_zero",
            "mov.u64 %rd3, %rd1; cvt.u64.u32 %rd4, %r0; div.u64 %rd5, %rd4, %rd3; shr.u64 %rd5, %rd5, 20; "
            "cvt.u32.u64 %r9, %rd5;"),
      value("shift_by_40", "mov.u32 %r1, 40; shl.b32 %r9, %r0, %r1;"),
      value("shift_signed_by_40", "mov.u32 %r1, 40; sub.u32 %r2, %r0, 2; shr.s32 %r9, %r2, %r1;"),
      value("convert_nan", "mov.f32 %f1, 0f7fffffff; cvt.rzi.s32.f32 %r9, %f1;"),
      value("convert_nan_unsigned", "mov.f32 %f1, 0f7fffffff; cvt.rzi.u32.f32 %r9, %f1;"),
      value("convert_infinity_s64",
            "mov.f32 %f1, 0fff800000; cvt.rzi.s64.f32 %rd3, %f1; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r9, "
            "%rd3;"),
      value("active_mask_of_20", "activemask.b32 %r9;", 20),
      value("vote_of_20", "setp.ge.u32 %p1, %r0, 0; vote.sync.ballot.b32 %r9, %p1, 0xffffffff;", 20),
      value("vote_all_of_20",
            "setp.ge.u32 %p1, %r0, 0; vote.sync.all.pred %p2, %p1, 0xffffffff; selp.u32 %r9, 1, 0, %p2;", 20),
      value("match_any_of_20", "mov.u32 %r1, 0; match.any.sync.b32 %r9, %r1, 0xffffffff;", 20),
      value("match_all_of_20", "mov.u32 %r1, 0; match.all.sync.b32 %r9|%p1, %r1, 0xffffffff;", 20),
      value("redux_min_of_20", "add.u32 %r1, %r0, 7; redux.sync.min.u32 %r9, %r1, 0xffffffff;", 20),
      value("redux_and_of_20", "mov.u32 %r1, 0xf0; redux.sync.and.b32 %r9, %r1, 0xffffffff;", 20),
      value("elect_of_20", "elect.sync %r9|%p1, 0xffffffff;", 20),
      value("lane_masks", "mov.u32 %r9, %lanemask_gt;", 20),
      value("special_registers",
            "mov.u32 %r1, %nwarpid; mov.u32 %r2, %nsmid; shl.b32 %r2, %r2, 8; or.b32 %r9, %r1, %r2;", 32, 1),
      value("dynamic_shared_size", "mov.u32 %r9, %dynamic_smem_size;", 32, 1),
      value("total_shared_size", "st.volatile.shared.u32 [s], %r0; mov.u32 %r9, %total_smem_size;", 32, 1,
            shared_array),
      value("least_of_signed_zeros",
            "mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f80000000; min.f32 %f3, %f1, %f2; mov.b32 %r9, %f3;", 32,
            1),
      value("square_root_of_minus_one", "mov.f32 %f1, 0fbf800000; sqrt.rn.f32 %f3, %f1; mov.b32 %r9, %f3;",
            32, 1),
      value("fns_beyond", "mov.u32 %r1, 0xf0; fns.b32 %r9, %r1, 0, 9;", 32, 1),
      value("bfe_beyond",
            "mov.u32 %r1, 0x80000000; mov.u32 %r2, 28; mov.u32 %r3, 8; bfe.s32 %r9, %r1, %r2, %r3;", 32, 1),
      value(
          "bfi_beyond",
          "mov.u32 %r1, 0xff; mov.u32 %r4, 0; mov.u32 %r2, 30; mov.u32 %r3, 40; bfi.b32 %r9, %r1, %r4, %r2, "
          "%r3;",
          32, 1),
      value("prmt_modes",
            "mov.u32 %r1, 0x80706050; mov.u32 %r2, 0x12345678; mov.u32 %r3, 0xfb73; prmt.b32 %r9, %r1, %r2, "
            "%r3;",
            32, 1),
      value("atomic_inc_wraps",
            "mov.u32 %r3, 5; atom.global.inc.u32 %r9, [%rd0+4096], %r3; ld.global.u32 %r9, [%rd0+4096];", 1,
            1),
      value("atomic_dec_wraps",
            "mov.u32 %r3, 5; atom.global.dec.u32 %r9, [%rd0+4096], %r3; ld.global.u32 %r9, [%rd0+4096];", 1,
            1),
  };
}

}  // namespace palladion::answers
