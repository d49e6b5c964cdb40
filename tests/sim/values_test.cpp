// Runs without values: which programs they take, what they leave as it was, and what they refuse.
#include <gmock/gmock.h>

#include <algorithm>

#include "report/text/finding_text.h"
#include "tests/sim/ptx_runner.h"
#include "tests/support/event_log.h"

namespace palladion::sim::testing {
namespace {

using ::testing::HasSubstr;

RunOptions without_values() {
  RunOptions o;
  o.values = Values::none;
  o.threads = 1;
  return o;
}

std::string values_kernel(const std::string& body, const std::string& before = "") {
  return ptx(before + ".visible .entry k(.param .u64 a, .param .u64 b) {\n" + body + "\nret;\n}\n");
}

constexpr const char* prologue = R"(
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<20>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
)";

// Both arrays as 64 words: `a` counts from 0, `b` is all 7.
class Subject {
 public:
  explicit Subject(const std::string& text) : runner_(text) {
    for (uint32_t i = 0; i < 64; ++i) a[i] = i;
    runner_.array(a, "a").array(b, "b");
  }
  RunResult run(const RunOptions& options) { return runner_.run(options); }
  PtxRunner& runner() { return runner_; }

  std::vector<uint32_t> a = std::vector<uint32_t>(64), b = std::vector<uint32_t>(64, 7);

 private:
  PtxRunner runner_;
};

// The run without values is clean and leaves the events of the one with them.
void expect_same_events(const std::string& text, isa::Dim3 grid = {}, isa::Dim3 block = {32, 1, 1}) {
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:1"}) {
    SCOPED_TRACE(schedule);
    Subject full(text), none(text);
    EventRecorder seen_full, seen_none;
    RunOptions o;
    o.schedule = *schedule_named(schedule);
    o.threads = 1;
    o.observer = &seen_full;
    full.runner().shape(grid, block).run_clean(o);
    o.values = Values::none;
    o.observer = &seen_none;
    none.runner().shape(grid, block).run_clean(o);
    EXPECT_EQ(seen_full.logs(), seen_none.logs());
  }
}

// Refused before the run, with one diagnostic that says all of `words`.
void expect_refused(const std::string& text, const std::vector<std::string>& words) {
  const RunResult r = Subject(text).run(without_values());
  ASSERT_FALSE(r.errors.empty()) << "was not refused";
  EXPECT_EQ(r.instructions, 0U);
  EXPECT_EQ(r.errors.front().code, "PLD3120");
  for (const std::string& w : words) EXPECT_THAT(r.errors.front().message, HasSubstr(w));
}

// Stopped where it reads tensor data.
void expect_stopped(const std::string& text, const std::vector<std::string>& words) {
  const RunResult r = Subject(text).run(without_values());
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings.front().code, "PLD3120");
  EXPECT_EQ(r.findings.front().severity, FindingSeverity::unsupported);
  for (const std::string& w : words) EXPECT_THAT(report::finding_text(r.findings.front()), HasSubstr(w));
}

// The PTX line on which `words` stand.
std::string line_of(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  EXPECT_NE(at, std::string::npos);
  return "line " + std::to_string(1 + std::count(text.begin(), text.begin() + ptrdiff_t(at), '\n'));
}

TEST(Values, TensorDataAreNeitherReadNorWritten) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, 0f3F800000;
    setp.gt.f32 %p1, %f2, %f1;
    selp.f32 %f3, %f2, %f1, %p1;
    @%p1 mul.f32 %f3, %f3, %f3;
    shfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;
    st.global.f32 [%rd5], %f3;)");
  expect_same_events(text);
  Subject s(text);
  EXPECT_TRUE(s.run(without_values()).clean());
  EXPECT_EQ(s.b, std::vector<uint32_t>(64, 7));
}

TEST(Values, BranchOnData) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    add.u32 %r3, %r2, 1;
    setp.gt.u32 %p1, %r3, 5;
    @%p1 bra $end;
    st.global.u32 [%rd5], %r3;
    $end:)");
  expect_refused(text, {"the branch at " + line_of(text, "bra $end"),
                        "the value loaded at " + line_of(text, "ld.global")});
}

TEST(Values, AddressesOfAHistogram) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.nc.u32 %r2, [%rd4];
    and.b32 %r3, %r2, 31;
    mul.wide.u32 %rd6, %r3, 4;
    add.u64 %rd7, %rd2, %rd6;
    red.global.add.u32 [%rd7], 1;)");
  expect_refused(text,
                 {"the address of `red` at " + line_of(text, "red.global"), line_of(text, "ld.global")});
}

TEST(Values, StoreUnderAConditionOnData) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    setp.gt.u32 %p1, %r2, 5;
    @%p1 st.global.u32 [%rd5], %r2;)");
  expect_refused(text, {"whether `st` at " + line_of(text, "st.global") + " is executed"});
}

TEST(Values, NamesThreeNeedsAtMost) {
  std::string body = std::string(prologue) + "ld.global.u32 %r2, [%rd4];\nsetp.gt.u32 %p1, %r2, 5;\n";
  for (int i = 0; i < 5; ++i) body += "@%p1 st.global.u32 [%rd5], 1;\n";
  const RunResult r = Subject(values_kernel(body)).run(without_values());
  ASSERT_EQ(r.errors.size(), 3U);
  EXPECT_THAT(r.errors.back().message, HasSubstr("2 more"));
}

TEST(Values, ARegisterUsedTwiceIsToldApart) {
  expect_same_events(values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    mov.u32 %r2, 0;
    $loop:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 10;
    @%p1 bra $loop;)"));
}

TEST(Values, TheCarryFlagIsFollowed) {
  expect_refused(values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    add.cc.u32 %r3, %r2, %r2;
    addc.u32 %r4, 0, 0;
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra $end;
    $end:)"),
                 {"the branch"});
}

// One CTA waits until the other has raised a flag.
TEST(Values, FlagsInGlobalMemoryAreKnown) {
  expect_same_events(values_kernel(std::string(prologue) + R"(
    mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra $wait;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd5], %f1;
    membar.gl;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra $end;
    st.release.gpu.global.u32 [%rd2+252], 1;
    bra $end;
    $wait:
    ld.acquire.gpu.global.u32 %r3, [%rd2+252];
    setp.ne.u32 %p3, %r3, 1;
    @%p3 bra $wait;
    $end:)"),
                     {2, 1, 1});
}

TEST(Values, AFlagThatTensorDataOverwrote) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ld.relaxed.gpu.global.u32 %r3, [%rd5];
    setp.eq.u32 %p1, %r3, 3;
    @%p1 bra $end;
    $end:)");
  expect_stopped(text, {"the branch at " + line_of(text, "bra $end"), "ld.relaxed"});
}

// The last CTA of several, found by a counter, does the rest.
TEST(Values, CountersAreKnownAndSumsAreData) {
  expect_same_events(values_kernel(std::string(prologue) + R"(
    ld.global.f32 %f1, [%rd4];
    red.global.add.f32 [%rd2], %f1;
    atom.global.add.u32 %r2, [%rd2+128], 1;
    setp.lt.u32 %p1, %r2, 40;
    @%p1 bra $end;
    st.global.f32 [%rd5], %f1;
    $end:)"),
                     {2, 1, 1});
}

TEST(Values, ASumThatDecides) {
  expect_refused(values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4];
    atom.global.add.u32 %r3, [%rd2], %r2;
    setp.lt.u32 %p1, %r3, 40;
    @%p1 bra $end;
    $end:)"),
                 {"the branch", "the value loaded"});
}

constexpr const char* tile_loop = R"(
    $next:
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $got;
    atom.global.add.u32 %r2, [%rd2], 1;
    st.shared.u32 [tile], %r2;
    $got:
    bar.sync 0;
    ld.shared.u32 %r3, [tile];
    bar.sync 0;
    setp.gt.u32 %p2, %r3, 20;
    @%p2 bra $end;
    add.u32 %r4, %r3, %r1;
    mul.wide.u32 %rd6, %r4, 4;
    add.u64 %rd7, %rd1, %rd6;
    ld.global.f32 %f1, [%rd7];
    st.shared.f32 [values], %f1;
    bra $next;
    $end:)";
constexpr const char* tile_variables = ".shared .align 4 .b32 tile;\n.shared .align 4 .b32 values;\n";

TEST(Values, ATileIndexThroughSharedMemory) {
  expect_same_events(values_kernel(std::string(prologue) + tile_loop, tile_variables), {2, 1, 1});
}

TEST(Values, ATileIndexThatIsTensorData) {
  std::string text = values_kernel(std::string(prologue) + tile_loop, tile_variables);
  const std::string from = "atom.global.add.u32 %r2, [%rd2], 1;";
  text.replace(text.find(from), from.size(), "ld.global.u32 %r2, [%rd2];");
  expect_stopped(text, {"the branch at " + line_of(text, "@%p2 bra"), "ld.shared"});
}

// A known value is overwritten by tensor data, and known again after the next store.
TEST(Values, DataOverATileIndex) {
  const auto with = [](const std::string& last) {
    return values_kernel(std::string(prologue) + R"(
      ld.global.u32 %r2, [%rd4];
      st.shared.u32 [tile], 3;
      st.shared.u32 [tile], %r2;
      )" + last + R"(
      ld.shared.u32 %r3, [tile];
      setp.gt.u32 %p2, %r3, 20;
      @%p2 bra $end;
      $end:)",
                         tile_variables);
  };
  expect_stopped(with(""), {"the branch", "ld.shared"});
  expect_same_events(with("st.shared.u32 [tile], 4;"));
}

// A sum that goes through shared memory to where no thread reads it.
TEST(Values, DataThroughSharedMemory) {
  expect_same_events(values_kernel(std::string(prologue) + R"(
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, values;
    add.u32 %r3, %r3, %r2;
    ld.global.f32 %f1, [%rd4];
    st.shared.f32 [%r3], %f1;
    bar.sync 0;
    ld.shared.f32 %f2, [%r3];
    st.global.f32 [%rd5], %f2;)",
                                   ".shared .align 4 .b8 values[128];\n"));
}

TEST(Values, LocalMemoryIsFollowed) {
  const std::string local = std::string(prologue) + R"(
    .local .align 4 .b32 kept; .local .align 4 .b32 other;
    ld.global.u32 %r2, [%rd4];
    st.local.u32 [kept], %r2;
    st.local.u32 [other], %r1;
    ld.local.u32 %r3, [WHICH];
    setp.lt.u32 %p1, %r3, 16;
    @%p1 bra $end;
    st.global.u32 [%rd5], %r2;
    $end:)";
  const auto with = [&](const std::string& name) {
    std::string text = local;
    return text.replace(text.find("WHICH"), 5, name);
  };
  expect_same_events(values_kernel(with("other")));
  expect_refused(values_kernel(with("kept")), {"the branch", "the value loaded at"});
}

TEST(Values, CallsAreFollowed) {
  const std::string function = R"(
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";
  const auto body = [](const std::string& argument) {
    return std::string(prologue) +
           "ld.global.u32 %r2, [%rd4];\n{\n.param .b32 in; .param .b32 out;\nst.param.b32 [in], " + argument +
           R"(;
    call.uni (out), twice, (in);
    ld.param.b32 %r3, [out];
    }
    setp.lt.u32 %p1, %r3, 16;
    @%p1 bra $end;
    st.global.u32 [%rd5], %r2;
    $end:)";
  };
  expect_same_events(values_kernel(body("%r1"), function));
  expect_refused(values_kernel(body("%r2"), function), {"the branch"});
}

// Which memory an access without a state space means is seen while the program runs.
TEST(Values, GenericAddresses) {
  const auto through = [](const std::string& address) {
    return values_kernel(std::string(prologue) + R"(
      cvta.shared.u64 %rd6, tile;
      cvta.global.u64 %rd7, %rd4;
      st.u32 [%rd6], 3;
      ld.u32 %r3, [)" + address +
                             R"(];
      setp.gt.u32 %p2, %r3, 20;
      @%p2 bra $end;
      $end:)",
                         tile_variables);
  };
  expect_same_events(through("%rd6"));
  expect_stopped(through("%rd7"), {"the branch", "ld.u32"});
}

TEST(Values, ATensorMapThatIsTensorData) {
  expect_stopped(values_kernel(std::string(prologue) + R"(
    ld.global.u64 %rd6, [%rd1];
    st.shared.u64 [map], %rd6;
    bar.sync 0;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 1, 100;)",
                               ".shared .align 128 .b8 map[128];\n"),
                 {"the tensor map", "tensormap.replace"});
}

TEST(Values, OperandsThatDecide) {
  const std::string load = std::string(prologue) + "ld.global.u32 %r2, [%rd4];\nmul.wide.u32 %rd6, %r2, 1;\n";
  expect_refused(values_kernel(load + "and.b32 %r2, %r2, 7;\nbar.sync %r2;"), {"of `bar`"});
  expect_refused(values_kernel(load + "shfl.sync.bfly.b32 %r3, %r1, 1, 31, %r2;"), {"of `shfl`"});
  expect_refused(values_kernel(load + "mbarrier.init.shared.b64 [bar], %r2;", ".shared .align 8 .b64 bar;\n"),
                 {"operand `count` of `mbarrier`"});
  expect_refused(values_kernel(load + "cp.async.ca.shared.global [tile], [%rd1], 4, %r2;", tile_variables),
                 {"of `cp`"});
  expect_refused(values_kernel(load + R"(
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd1, 1, 1, 1, 0, 0;)"),
                 {"of `wgmma`"});
}

TEST(Values, ProductsAreData) {
  const std::string product = std::string(prologue) + R"(
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1},
      {%f5, %f5, %f5, %f5};)";
  expect_same_events(values_kernel(product + "st.global.f32 [%rd5], %f1;"));
  expect_refused(values_kernel(product + "setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra $end;\n$end:"),
                 {"the branch", "the product computed"});
}

TEST(Values, AddressesAreStillChecked) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    ld.global.u32 %r2, [%rd4+4096];
    st.global.u32 [%rd5], %r2;)");
  const RunResult r = Subject(text).run(without_values());
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings.front().code, "PLD3022");
}

TEST(Values, CopiesSignalWithoutMoving) {
  const std::string text = values_kernel(std::string(prologue) + R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $wait;
    mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 %rd8, [bar], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [values], [%rd1], 128, [bar];
    $wait:
    bar.sync 0;
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra $wait2;
    bra $go;
    $wait2:
    mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra $wait2;
    $go:
    cp.async.ca.shared.global [values], [%rd1], 4;
    cp.async.wait_all;
    bar.sync 0;
    fence.proxy.async.shared::cta;
    @%p1 bra $end;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [values], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    $end:)",
                                         ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 values[128];\n");
  expect_same_events(text);
  Subject s(text);
  EXPECT_TRUE(s.run(without_values()).clean());
  EXPECT_EQ(s.b, std::vector<uint32_t>(64, 7));
}

TEST(Values, AnIndexThatACopyBrought) {
  expect_stopped(values_kernel(std::string(prologue) + R"(
    cp.async.ca.shared.global [tile], [%rd1], 4;
    cp.async.wait_all;
    bar.sync 0;
    ld.shared.u32 %r3, [tile];
    setp.gt.u32 %p2, %r3, 20;
    @%p2 bra $end;
    $end:)",
                               tile_variables),
                 {"the branch", "ld.shared"});
}

// More than the host has: memory that is not accessed costs nothing.
TEST(Values, LargeArraysCostAddressesAlone) {
  constexpr uint64_t size = uint64_t{1} << 37;
  GlobalMemory memory;
  const Address base = memory.allocate(size, "large");
  EXPECT_NE(memory.find(base, size), nullptr);
  EXPECT_EQ(*memory.find(base + size / 2, 1), 0);
}

}  // namespace
}  // namespace palladion::sim::testing
