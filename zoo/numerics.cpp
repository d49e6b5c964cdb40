// NU: what users take for a race and is none.
#include "zoo/groups.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// Undefined in no manual: the kernel does what it says, and that is hardly meant.
constexpr auto severity = sim::FindingSeverity::strict;

Pair half_overflow() {
  return ptx_pair({.name = "numerics-f16-accumulator-overflow",
                   .entry = "NU-01",
                   .title = "a sum of squares in f16 leaves its range and becomes infinite",
                   .code = "PLD6301",
                   .severity = severity,
                   .text = program({{"in"}, {"out"}}, R"(
  mul.wide.u32 %rd0, %t, 2;
  add.u64 %rd1, %in, %rd0;
  mov.b16 %h0, 0;
  mov.f32 %f0, 0f00000000;
  mov.u32 %r0, 0;
NEXT:
  ld.global.b16 %h1, [%rd1];
  cvt.f32.f16 %f1, %h1;               //! good
  fma.rn.f32 %f0, %f1, %f1, %f0;      //! good
  fma.rn.f16 %h0, %h1, %h1, %h0;  // @1   //! broken
  add.u64 %rd1, %rd1, 256;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 4;
  @%p0 bra NEXT;
  cvt.f32.f16 %f0, %h0;               //! broken
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)"),
                   .buffers = {counting("in", pl::f16, 512), result("out", pl::f32, 128)},
                   .params = pointers(2)});
}

// A row a thread; rows of 8, the last ones are wholly masked.
Pair masked_row() {
  return ptx_pair({.name = "numerics-softmax-of-masked-row",
                   .entry = "NU-02",
                   .title = "a fully masked row has -inf as its maximum, and -inf - -inf is NaN",
                   .code = "PLD6302",
                   .severity = severity,
                   .text = program({{"in"}, {"out"}}, R"(
  mul.wide.u32 %rd0, %t, 32;
  add.u64 %rd0, %in, %rd0;
  mov.f32 %f0, 0fFF800000;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r0, 0;
NEXT:
  ld.global.f32 %f2, [%rd0];
  add.u32 %r1, %t, %r0;
  setp.ge.u32 %p0, %r1, 120;
  selp.f32 %f2, 0fFF800000, %f2, %p0;
  max.f32 %f3, %f0, %f2;
  mov.f32 %f4, %f3;
  setp.eq.f32 %p1, %f3, 0fFF800000;         //! good
  selp.f32 %f4, 0f00000000, %f3, %p1;       //! good
  sub.f32 %f5, %f0, %f4;  // @1
  ex2.approx.f32 %f5, %f5;
  sub.f32 %f6, %f2, %f4;
  ex2.approx.f32 %f6, %f6;
  fma.rn.f32 %f1, %f1, %f5, %f6;
  mov.f32 %f0, %f3;
  add.u64 %rd0, %rd0, 4;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p2, %r0, 8;
  @%p2 bra NEXT;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f1;)"),
                   .buffers = {small_numbers("in", pl::f32, 1024), result("out", pl::f32, 128)},
                   .params = pointers(2)});
}

Pair order_of_sums() {
  return ptx_pair({.name = "numerics-order-dependent-sum",
                   .entry = "NU-04",
                   .title = "CTAs add floats atomically: no race, but the sum depends on their order",
                   .code = "PLD6304",
                   .severity = severity,
                   .text = program({{"in"}, {"sum"}}, R"(
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  mul.wide.u32 %rd1, %t, 4;
  add.u64 %rd1, %sum, %rd1;
  mul.f32 %f1, %f0, 0f49800000;                //! good
  cvt.rni.s32.f32 %r1, %f1;                    //! good
  red.relaxed.gpu.global.add.s32 [%rd1], %r1;  //! good
  red.relaxed.gpu.global.add.f32 [%rd1], %f0;  // @1   //! broken)"),
                   .grid = {8, 1, 1},
                   .buffers = {{"in",
                                Role::in,
                                {pl::f32, {1024}},
                                filled({pl::f32, {1024}}, {.kind = Fill::Kind::randn, .seed = 5})},
                               zeros("sum", pl::s32, 128)},
                   .params = pointers(2)});
}

}  // namespace

std::vector<Pair> numerics_pairs() { return {half_overflow(), masked_row(), order_of_sums()}; }

}  // namespace palladion::zoo
