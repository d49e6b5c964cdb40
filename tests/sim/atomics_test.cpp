// atom and red: every operation and type, in shared and global memory, across CTAs and clusters.
#include <algorithm>
#include <bit>
#include <limits>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// One thread applies `instruction` to 16 bytes that hold `memory` (in global or shared memory); %rd10 is
// their address, %rd6/%r6/%h6 and %rd7/%r7/%h7 hold the words of `b`, results go to %rd8, %rd9.
struct Result {
  uint64_t memory[2], returned[2];
  bool operator==(const Result&) const = default;
};

std::string one_thread(const std::string& instruction, bool shared) {
  const std::string there = shared ? "mov.u64 %rd10, buffer; ld.global.v2.u64 {%rd8, %rd9}, [%rd1];"
                                     " st.shared.v2.u64 [%rd10], {%rd8, %rd9};"
                                   : "mov.u64 %rd10, %rd1;";
  const std::string back =
      shared ? "ld.shared.v2.u64 {%rd6, %rd7}, [%rd10]; st.global.v2.u64 [%rd1], {%rd6, %rd7};" : "";
  return ptx(R"(
.visible .entry k(.param .u64 memory, .param .u64 b, .param .u64 returned) {
  .shared .align 16 .b8 buffer[16];
  .reg .b16 %h<12>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .b128 %q<4>;
  ld.param.u64 %rd1, [memory];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [returned];
  ld.global.v2.u64 {%rd6, %rd7}, [%rd2];
  cvt.u32.u64 %r6, %rd6;
  cvt.u32.u64 %r7, %rd7;
  cvt.u16.u64 %h6, %rd6;
  cvt.u16.u64 %h7, %rd7;
)" + there + R"(
  mov.u64 %rd8, 0;
  mov.u64 %rd9, 0;
)" + instruction +
             back + R"(
  st.global.v2.u64 [%rd3], {%rd8, %rd9};
  ret;
})");
}

Result apply(const std::string& instruction, std::vector<uint64_t> memory, std::vector<uint64_t> b,
             bool shared) {
  std::vector<uint64_t> returned(2);
  memory.resize(2);
  b.resize(2);
  PtxRunner(one_thread(instruction, shared))
      .array(memory)
      .array(b)
      .array(returned)
      .shape({1, 1, 1}, {1, 1, 1})
      .run_clean();
  return {{memory[0], memory[1]}, {returned[0], returned[1]}};
}

std::string space(bool shared) { return shared ? ".shared" : ".global"; }

// --- integers -------------------------------------------------------------------------------------
template <class T>
T reference(const std::string& op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (op == "add") return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "inc") return a >= b ? 0 : a + 1;
  if (op == "dec") return a == 0 || a > b ? b : a - 1;
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  return b;  // exch
}

template <class T>
void check_integer(const std::string& op, const std::string& type) {
  const std::string width = sizeof(T) == 8 ? "rd" : "r";
  const std::string widen = sizeof(T) == 8 ? "" : "cvt.u64.u32 %rd8, %r8;";
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  for (const auto& [a, b] :
       {std::pair<T, T>{5, 3}, {3, 5}, {0, 7}, {low, 1}, {high, 1}, {high, high}, {low, high}, {7, 7}}) {
    for (const bool shared : {false, true}) {
      const Result r =
          apply("atom" + space(shared) + "." + op + "." + type + " %" + width + "8, [%rd10], %" + width +
                    "6;" + widen,
                {static_cast<std::make_unsigned_t<T>>(a)}, {static_cast<std::make_unsigned_t<T>>(b)}, shared);
      EXPECT_EQ(static_cast<T>(r.memory[0]), reference<T>(op, a, b))
          << op << "." << type << " " << a << " " << b;
      EXPECT_EQ(static_cast<T>(r.returned[0]), a) << op << "." << type;
    }
  }
}

TEST(Atomics, IntegersOfEveryTypeAndOperation) {
  for (const char* op : {"add", "min", "max"}) {
    check_integer<uint32_t>(op, "u32");
    check_integer<int32_t>(op, "s32");
    check_integer<uint64_t>(op, "u64");
  }
  for (const char* op : {"min", "max"}) check_integer<int64_t>(op, "s64");
  for (const char* op : {"inc", "dec"}) check_integer<uint32_t>(op, "u32");
  for (const char* op : {"and", "or", "xor", "exch"}) {
    check_integer<uint32_t>(op, "b32");
    check_integer<uint64_t>(op, "b64");
  }
}

TEST(Atomics, CompareAndSwapOfEveryWidth) {
  for (const bool shared : {false, true}) {
    const std::string s = space(shared);
    const Result hit = apply("atom" + s + ".cas.b16 %h8, [%rd10], %h6, %h7; cvt.u64.u16 %rd8, %h8;",
                             {0x11112222}, {0x2222, 0x3333}, shared);
    EXPECT_EQ(hit.memory[0], 0x11113333U);
    EXPECT_EQ(hit.returned[0], 0x2222U);
    const Result miss =
        apply("atom" + s + ".cas.b32 %r8, [%rd10], %r6, %r7; cvt.u64.u32 %rd8, %r8;", {5}, {6, 7}, shared);
    EXPECT_EQ(miss.memory[0], 5U);
    EXPECT_EQ(miss.returned[0], 5U);
    const Result wide =
        apply("atom" + s + ".cas.b64 %rd8, [%rd10], %rd6, %rd7;", {1ULL << 60}, {1ULL << 60, 9}, shared);
    EXPECT_EQ(wide.memory[0], 9U);
    const std::string make = "mov.b128 %q1, {%rd6, %rd7}; mov.b128 %q2, {%rd7, %rd6};",
                      take = "mov.b128 {%rd8, %rd9}, %q3;";
    const Result pair =
        apply(make + "atom" + s + ".cas.b128 %q3, [%rd10], %q1, %q2;" + take, {3, 4}, {3, 4}, shared);
    EXPECT_EQ(pair, (Result{{4, 3}, {3, 4}}));
    const Result swap =
        apply(make + "atom" + s + ".exch.b128 %q3, [%rd10], %q1;" + take, {1, 2}, {8, 9}, shared);
    EXPECT_EQ(swap, (Result{{8, 9}, {1, 2}}));
  }
}

// --- floating point -------------------------------------------------------------------------------
uint64_t f32(float v) { return std::bit_cast<uint32_t>(v); }

TEST(Atomics, AdditionsOfF32FlushSubnormalsInGlobalMemoryOnly) {
  const std::string add = ".add.f32 %r8, [%rd10], %r6; cvt.u64.u32 %rd8, %r8;";
  const uint64_t tiny = 0x00000123, minus_tiny = 0x80000123;
  EXPECT_EQ(apply("atom.global" + add, {f32(1.5F)}, {f32(2.25F)}, false).memory[0], f32(3.75F));
  EXPECT_EQ(apply("atom.shared" + add, {tiny}, {tiny}, true).memory[0], 2 * tiny);
  const Result flushed = apply("atom.global" + add, {tiny}, {tiny}, false);
  EXPECT_EQ(flushed.memory[0], 0U);
  EXPECT_EQ(flushed.returned[0], tiny);  // what was read, as it was
  EXPECT_EQ(apply("atom.global" + add, {minus_tiny}, {minus_tiny}, false).memory[0], 0x80000000U);
  // The space of a generic address is determined when it is used.
  EXPECT_EQ(apply("cvta.shared.u64 %rd10, %rd10; atom" + add + "cvta.to.shared.u64 %rd10, %rd10;", {tiny},
                  {tiny}, true)
                .memory[0],
            2 * tiny);
  EXPECT_EQ(apply("atom" + add, {tiny}, {tiny}, false).memory[0], 0U);
}

TEST(Atomics, OtherFloatingPointTypes) {
  const auto bits = [](double v) { return std::bit_cast<uint64_t>(v); };
  EXPECT_EQ(apply("atom.global.add.f64 %rd8, [%rd10], %rd6;", {bits(0.1)}, {bits(0.2)}, false).memory[0],
            bits(0.1 + 0.2));
  // f16: 1 + 2^-11 rounds to even; subnormals are kept. bf16: 1 + 1.
  EXPECT_EQ(apply("atom.shared.add.noftz.f16 %h8, [%rd10], %h6;", {0x3C00}, {0x1000}, true).memory[0],
            0x3C00U);
  EXPECT_EQ(apply("red.global.add.noftz.f16 [%rd10], %h6;", {0x0001}, {0x0001}, false).memory[0], 0x0002U);
  EXPECT_EQ(apply("red.global.add.noftz.bf16x2 [%rd10], %r6;", {0x3F804000}, {0x3F803F80}, false).memory[0],
            0x40004040U);
  EXPECT_EQ(apply("atom.global.add.noftz.f16x2 %r8, [%rd10], %r6; cvt.u64.u32 %rd8, %r8;", {0x3C004000},
                  {0x40003C00}, false),
            (Result{{0x42004200, 0}, {0x3C004000, 0}}));
}

TEST(Atomics, Vectors) {
  const Result v2 = apply("atom.global.add.v2.f32 {%r8, %r9}, [%rd10], {%r6, %r7}; mov.b64 %rd8, {%r8, %r9};",
                          {f32(1) | f32(2) << 32}, {f32(10), f32(20)}, false);
  EXPECT_EQ(v2.memory[0], f32(11) | f32(22) << 32);
  EXPECT_EQ(v2.returned[0], f32(1) | f32(2) << 32);
  // f16 max, four elements: NaN loses to a number.
  const Result v4 = apply("red.global.max.noftz.v4.f16 [%rd10], {%h6, %h7, %h6, %h7};",
                          {0x7FFF'3C00'C000'4200}, {0x4000, 0x3800}, false);
  EXPECT_EQ(v4.memory[0], 0x3800'4000'3800'4200U);
}

// --- many lanes, many CTAs ------------------------------------------------------------------------
const char* const histogram = R"(
.visible .entry k(.param .u64 counts, .param .u64 order) {
  .shared .align 4 .b8 local[16];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [counts];
  ld.param.u64 %rd2, [order];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, local;
  setp.lt.u32 %p1, %r1, 4;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  @%p1 st.shared.u32 [%r4], 0;
  bar.sync 0;
  and.b32 %r5, %r1, 3;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r2, %r5;
  red.shared.add.u32 [%r5], 1;
  bar.sync 0;
  @%p1 ld.shared.u32 %r6, [%r4];
  mul.wide.u32 %rd3, %r3, 1;
  add.s64 %rd4, %rd1, %rd3;
  @%p1 red.global.add.u32 [%rd4], %r6;
  setp.eq.u32 %p2, %r1, 0;
  @!%p2 bra $end;
  atom.global.add.u32 %r7, [%rd1+16], 1;
  mul.wide.u32 %rd5, %r7, 4;
  add.s64 %rd6, %rd2, %rd5;
  mov.u32 %r8, %ctaid.x;
  st.global.u32 [%rd6], %r8;
$end:
  ret;
})";

TEST(Atomics, HistogramOverManyCtasUnderEverySchedule) {
  for (RunOptions o : every_schedule()) {
    std::vector<uint32_t> first;
    for (const unsigned threads : {1U, 2U}) {
      o.threads = threads;
      std::vector<uint32_t> counts(5), order(40, ~0U);
      PtxRunner(ptx(histogram)).array(counts).array(order).shape({40, 1, 1}, {128, 1, 1}).run_clean(o);
      EXPECT_EQ(counts, (std::vector<uint32_t>{1280, 1280, 1280, 1280, 40})) << name(o.schedule);
      std::vector<uint32_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(sorted[i], i);
      if (threads == 1) first = order;
      EXPECT_EQ(order, first) << "the order depends on the host threads, " << name(o.schedule);
    }
  }
}

TEST(Atomics, SpinLockAcrossCtas) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> lock(1), sum(1);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 lock, .param .u64 sum) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [lock];
  ld.param.u64 %rd2, [sum];
$spin:
  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $spin;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
  ret;
})"))
        .array(lock)
        .array(sum)
        .shape({16, 1, 1}, {1, 1, 1})
        .run_clean(o);
    EXPECT_EQ(sum[0], 16U) << name(o.schedule);
    EXPECT_EQ(lock[0], 0U);
  }
}

TEST(Atomics, SharedMemoryOfAnotherCta) {
  for (const RunOptions& o : every_schedule()) {
    std::vector<uint32_t> out(4);
    PtxRunner(ptx(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 count;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, count;
  st.shared.u32 [%r1], 0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r2, %cluster_ctarank;
  add.u32 %r3, %r2, 1;
  and.b32 %r3, %r3, 3;
  mapa.shared::cluster.u32 %r4, %r1, %r3;
  add.u32 %r5, %r2, 1;
  atom.shared::cluster.add.u32 %r6, [%r4], %r5;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r7, [%r1];
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;
})"))
        .array(out)
        .shape({4, 1, 1}, {32, 1, 1}, {4, 1, 1})
        .run_clean(o);
    EXPECT_EQ(out, (std::vector<uint32_t>{4 * 32, 1 * 32, 2 * 32, 3 * 32})) << name(o.schedule);
  }
}

// Compilers map an address for each lane and use those of the cluster (CuTe DSL's work queues).
TEST(Atomics, OnlyTheUseOfARankBeyondTheClusterIsAFault) {
  const auto counted = [](const char* used) {
    std::vector<uint32_t> out(2);
    PtxRunner runner(ptx(std::string(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 count;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, count;
  st.shared.u32 [%r1], 0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r2, %tid.x;
  mul.lo.u32 %r3, %r2, 129;
  setp.eq.u32 %p2, %r2, 1;
  @%p2 mov.u32 %r3, 1;
  mapa.shared::cluster.u32 %r4, %r1, %r3;
  setp.lt.u32 %p1, %r2, )") +
                         used + R"(;
  @%p1 atom.shared::cluster.add.u32 %r6, [%r4], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r2, %cluster_ctarank;
  ld.shared.u32 %r7, [%r1];
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;
})"));
    runner.array(out).shape({2, 1, 1}, {32, 1, 1}, {2, 1, 1});
    const RunResult r = runner.run();
    return std::pair{r.findings.empty() ? std::string() : r.findings[0].code.name(), out};
  };
  EXPECT_EQ(counted("2"), (std::pair{std::string(), std::vector<uint32_t>{2, 2}}));
  EXPECT_EQ(counted("3").first, "PLD3025");  // of rank 258, which is none
}

TEST(Atomics, MisalignedOrLocalIsAFault) {
  const auto fault = [](const std::string& text) {
    std::vector<uint64_t> memory(2), b(2), returned(2);
    const RunResult r = PtxRunner(one_thread(text, false))
                            .array(memory)
                            .array(b)
                            .array(returned)
                            .shape({1, 1, 1}, {1, 1, 1})
                            .run();
    return r.findings.size() == 1 ? r.findings[0].code.name() : PtxRunner::describe(r);
  };
  EXPECT_EQ(fault("add.s64 %rd10, %rd10, 2; red.global.add.u32 [%rd10], %r6;"), "PLD3024");
  EXPECT_EQ(fault("red.global.add.u32 [%rd10+16], %r6;"), "PLD3022");
}

}  // namespace
}  // namespace palladion::sim::testing
