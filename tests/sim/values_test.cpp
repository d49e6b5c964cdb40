// Runs without values: which programs they take, what they leave as it was, and what they refuse.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/values_subject.h"

namespace palladion::sim::testing::values {
namespace {

using ::testing::HasSubstr;

// The PTX line on which `words` stand.
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
  expect_stopped_for(text, "bra $end", "ld.relaxed");
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

TEST(Values, ATileIndexThroughSharedMemory) {
  expect_same_events(values_kernel(std::string(prologue) + tile_loop, tile_variables), {2, 1, 1});
}

TEST(Values, ATileIndexThatIsTensorData) {
  std::string text = values_kernel(std::string(prologue) + tile_loop, tile_variables);
  const std::string from = "atom.global.add.u32 %r2, [%rd2], 1;";
  text.replace(text.find(from), from.size(), "ld.global.u32 %r2, [%rd2];");
  expect_stopped_for(text, "@%p2 bra", "ld.shared");
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
  expect_stopped_for(with(""), "@%p2 bra", "ld.shared");
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
  expect_stopped_for(through("%rd7"), "@%p2 bra", "ld.u32");
}

TEST(Values, ATensorMapThatIsTensorData) {
  expect_stopped(values_kernel(std::string(prologue) + R"(
    ld.global.u64 %rd6, [%rd1];
    st.shared.u64 [map], %rd6;
    bar.sync 0;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 1, 100;)",
                               ".shared .align 128 .b8 map[128];\n"),
                 say<Phrase::tensor_map_is_data>("changed"), "tensormap.replace");
}

}  // namespace
}  // namespace palladion::sim::testing::values
