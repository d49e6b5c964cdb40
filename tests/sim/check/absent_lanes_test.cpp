// Values that shuffles take from lanes that do not take part: found where they matter, and nowhere else.
#include "sim/check/catalogue/code.h"
#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

// One CTA of so many threads: %r3 the lane's value, %rd2 its word of the array.
Codes shuffle_codes(const std::string& body, uint32_t threads, const std::string& functions = {}) {
  return codes_of(checked(R"(
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd2, %rd1;
  add.u32 %r3, %r1, 100;
)" + body,
                          {1, 1, 1}, {threads, 1, 1}, 0, functions));
}

const Codes defined = {}, taken = {"PLD4704"};
constexpr const char* and_store = "\n  st.global.u32 [%rd2], %r4;";
constexpr const char* high_lanes_exit = "  setp.ge.u32 %p1, %r1, 20;\n  @%p1 exit;\n";

std::string shuffle(const std::string& what, const std::string& mask = "0xffffffff") {
  return "  shfl.sync." + what + ", " + mask + ";";
}
const std::string from_above = shuffle("down.b32 %r4, %r3, 1, 31"),
                  from_below = shuffle("up.b32 %r4, %r3, 1, 0");

TEST(AbsentLanes, ThatDoNotExist) {
  EXPECT_EQ(shuffle_codes(from_above + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(shuffle("bfly.b32 %r4, %r3, 16, 31") + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(shuffle("idx.b32 %r4, %r3, 25, 31") + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(shuffle("down.b32 %r4, %r3, 1, 31", "0xfffff") + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(from_below + and_store, 20), defined);
  EXPECT_EQ(shuffle_codes(shuffle("down.b32 %r4, %r3, 1, 19") + and_store, 20), defined)
      << "within the segment";
  EXPECT_EQ(shuffle_codes(shuffle("idx.b32 %r4, %r3, 19, 31") + and_store, 20), defined);
  EXPECT_EQ(shuffle_codes(from_above + and_store, 32), defined);
}

TEST(AbsentLanes, ThatHaveExited) {
  EXPECT_EQ(shuffle_codes(high_lanes_exit + from_above + and_store, 32), taken);
  EXPECT_EQ(shuffle_codes(high_lanes_exit + from_below + and_store, 32), defined);
}

TEST(AbsentLanes, ThatAreNotInTheMaskOrElsewhere) {
  const std::string low = "  setp.ge.u32 %p1, %r1, 20;\n  @%p1 bra OUT;\n", out = "\nOUT:";
  EXPECT_EQ(shuffle_codes(low + shuffle("down.b32 %r4, %r3, 1, 31", "0xfffff") + and_store + out, 32), taken);
  EXPECT_EQ(shuffle_codes(low + shuffle("up.b32 %r4, %r3, 1, 0", "0xfffff") + and_store + out, 32), defined);
  const std::string two = "  setp.lt.u32 %p1, %r1, 20;\n  selp.b32 %r5, 0x000fffff, 0xfff00000, %p1;\n";
  EXPECT_EQ(shuffle_codes(two + shuffle("down.b32 %r4, %r3, 1, 31", "%r5") + and_store, 32), taken);
  EXPECT_EQ(shuffle_codes(two + shuffle("bfly.b32 %r4, %r3, 1, 31", "%r5") + and_store, 32), defined);
}

TEST(AbsentLanes, WhatReachesABranchAnAddressOrAnotherLaneCounts) {
  EXPECT_EQ(shuffle_codes(from_above + R"(
  setp.gt.u32 %p2, %r4, 50;
  @%p2 bra ON;
  st.global.u32 [%rd2], %r1;
ON:)",
                          20),
            taken);
  EXPECT_EQ(shuffle_codes(from_above + R"(
  and.b32 %r4, %r4, 63;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd3, %rd3, %rd1;
  ld.global.u32 %r5, [%rd3+2048];)",
                          20),
            taken);
  EXPECT_EQ(
      shuffle_codes(
          from_above + "\n  shfl.sync.idx.b32 %r5, %r4, 19, 31, -1;\n  mov.u32 %r4, %r5;" + and_store, 20),
      taken);
  EXPECT_EQ(shuffle_codes(from_above + "\n  redux.sync.add.u32 %r4, %r4, -1;" + and_store, 20), taken);
  EXPECT_EQ(
      shuffle_codes(
          from_above + "\n  xor.b32 %r4, %r4, %r3;\n  not.b32 %r4, %r4;\n  shr.u32 %r4, %r4, 1;" + and_store,
          20),
      taken);
}

TEST(AbsentLanes, WhatIsDiscardedIsRight) {
  const std::string valid = "\n  setp.lt.u32 %p2, %r1, 19;\n";
  EXPECT_EQ(shuffle_codes(from_above + valid + "  selp.u32 %r4, %r4, 0, %p2;" + and_store, 20), defined);
  EXPECT_EQ(shuffle_codes(from_above + valid + "  @%p2 st.global.u32 [%rd2], %r4;", 20), defined);
  EXPECT_EQ(shuffle_codes(from_above + valid + "  @!%p2 mov.u32 %r4, 7;" + and_store, 20), defined);
  EXPECT_EQ(shuffle_codes(
                from_above + valid + "  selp.u32 %r5, -1, 0, %p2;\n  and.b32 %r4, %r4, %r5;" + and_store, 20),
            defined);
  EXPECT_EQ(
      shuffle_codes(
          from_above + valid + "  selp.u32 %r5, 1, 0, %p2;\n  mul.lo.u32 %r4, %r4, %r5;" + and_store, 20),
      defined);
  EXPECT_EQ(
      shuffle_codes(
          from_above + valid + "  setp.gt.and.u32 %p3, %r4, 50, %p2;\n  @%p3 st.global.u32 [%rd2], %r1;", 20),
      defined);
  EXPECT_EQ(shuffle_codes(from_above + "\n  xor.b32 %r4, %r4, %r4;" + and_store, 20), defined);
}

// A sum by shfl.down in the last warp: only lane 0's result is used.
TEST(AbsentLanes, ASumOfWhichOnlyDefinedPartsAreUsed) {
  std::string sum = "  mov.u32 %r4, %r3;\n";
  for (const char* d : {"16", "8", "4", "2", "1"})
    sum +=
        std::string("  shfl.sync.down.b32 %r5|%p2, %r4, ") + d + ", 19, -1;\n  @%p2 add.u32 %r4, %r4, %r5;\n";
  EXPECT_EQ(shuffle_codes(sum + "  setp.eq.u32 %p3, %r1, 0;\n  @%p3 st.global.u32 [%rd2], %r4;", 20),
            defined);
  std::string wrong = "  mov.u32 %r4, %r3;\n";
  for (const char* d : {"16", "8", "4", "2", "1"})
    wrong += std::string("  shfl.sync.bfly.b32 %r5, %r4, ") + d + ", 31, -1;\n  add.u32 %r4, %r4, %r5;\n";
  EXPECT_EQ(shuffle_codes(wrong + "  setp.eq.u32 %p3, %r1, 0;\n  @%p3 st.global.u32 [%rd2], %r4;", 20),
            taken);
}

TEST(AbsentLanes, AreFollowedThroughLocalMemory) {
  const std::string spill = "\n  .local .align 4 .b8 slot[8];\n  mov.u32 %r8, slot;\n";
  EXPECT_EQ(
      shuffle_codes(
          spill + from_above + "\n  st.local.u32 [%r8], %r4;\n  ld.local.u32 %r4, [%r8];" + and_store, 20),
      taken);
  EXPECT_EQ(shuffle_codes(spill + from_above +
                              "\n  st.local.u32 [%r8], %r4;\n  st.local.u32 [%r8], %r1;\n"
                              "  ld.local.u32 %r4, [%r8];" +
                              and_store,
                          20),
            defined);
}

// As nvcc -G does it.
TEST(AbsentLanes, AreFollowedThroughGenericAddresses) {
  const std::string spill =
      "\n  .local .align 4 .b8 slot[8];\n  mov.u64 %rd4, slot;\n  cvta.local.u64 %rd4, %rd4;\n";
  const std::string kept = spill + from_above + "\n  st.u32 [%rd4], %r4;\n";
  EXPECT_EQ(shuffle_codes(kept + "  ld.u32 %r4, [%rd4];" + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(kept + "  st.u32 [%rd4], %r1;\n  ld.u32 %r4, [%rd4];" + and_store, 20), defined);
  EXPECT_EQ(shuffle_codes(kept, 20), defined);
  EXPECT_EQ(shuffle_codes(from_above + "\n  st.u32 [%rd2], %r4;", 20), taken);
}

TEST(AbsentLanes, EachByteOfPrivateMemoryIsOneByItself) {
  const std::string kept = "\n  .local .align 4 .b8 slot[8];\n  mov.u32 %r8, slot;\n" + from_above +
                           "\n  st.local.u8 [%r8], %r4;\n  st.local.u8 [%r8+1], %r1;\n";
  EXPECT_EQ(shuffle_codes(kept + "  ld.local.u8 %r4, [%r8];" + and_store, 20), taken);
  EXPECT_EQ(shuffle_codes(kept + "  ld.local.u8 %r4, [%r8+1];" + and_store, 20), defined);
}

const std::string blocks = "  { .param .b32 a; .param .b32 b;\n";
std::string call_of(const std::string& name, const std::string& from = "%r3") {
  return blocks + "  st.param.b32 [a], " + from + ";\n  call.uni (b), " + name +
         ", (a);\n  ld.param.b32 %r4, [b]; }\n";
}
std::string in_function(const std::string& name, const std::string& body) {
  return ".func (.param .b32 r) " + name + "(.param .b32 n) {\n" +
         "  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<4>;\n  ld.param.b32 %r3, [n];\n" + body +
         "\n  st.param.b32 [r], %r4;\n  ret;\n}\n";
}
const std::string shuffles = in_function("f", from_above), copies = in_function("f", "  mov.b32 %r4, %r3;");
constexpr const char* valid_lanes = "\n  setp.lt.u32 %p2, %r1, 19;\n";

TEST(AbsentLanes, AreFollowedThroughCalls) {
  EXPECT_EQ(shuffle_codes(call_of("f") + and_store, 20, shuffles), taken);
  EXPECT_EQ(shuffle_codes(call_of("f") + valid_lanes + "  @%p2 st.global.u32 [%rd2], %r4;", 20, shuffles),
            defined);
  EXPECT_EQ(shuffle_codes(call_of("f") + and_store, 32, shuffles), defined);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r4") + and_store, 20, copies), taken);
  EXPECT_EQ(shuffle_codes(
                from_above + valid_lanes + "  selp.u32 %r4, %r4, 0, %p2;\n" + call_of("f", "%r4") + and_store,
                20, copies),
            defined);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r3") + and_store, 20, copies), defined);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r4") + call_of("f", "%r1") + and_store, 20, copies),
            defined)
      << "the second call's parameter is another value";
}

TEST(AbsentLanes, MatterWhereACalledFunctionUsesThem) {
  const std::string chooses = in_function("f", "  setp.gt.u32 %p1, %r3, 50;\n  selp.b32 %r4, 1, 0, %p1;"),
                    branches = in_function("f",
                                           "  mov.b32 %r4, 0;\n  setp.gt.u32 %p1, %r3, 50;\n"
                                           "  @%p1 bra ON;\n  mov.b32 %r4, 1;\nON:");
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r4") + and_store, 20, chooses), taken);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r4"), 20, chooses), defined);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r4"), 20, branches), taken);
  EXPECT_EQ(shuffle_codes(from_above + call_of("f", "%r3"), 20, branches), defined);
}

TEST(AbsentLanes, AreFollowedThroughParametersInRegisters) {
  const std::string f = ".func (.reg .b32 r) f(.reg .b32 n) {\n  mov.b32 r, n;\n  ret;\n}\n",
                    call = "\n  call.uni (%r4), f, (%r4);\n";
  EXPECT_EQ(shuffle_codes(from_above + call + and_store, 20, f), taken);
  EXPECT_EQ(shuffle_codes(from_above + "\n  call.uni (%r4), f, (%r3);\n" + and_store, 20, f), defined);
  EXPECT_EQ(shuffle_codes(from_above + call + valid_lanes + "  @%p2 st.global.u32 [%rd2], %r4;", 20, f),
            defined);
}

TEST(AbsentLanes, AreFollowedThroughIndirectCalls) {
  const std::string other = in_function("g", "  mov.b32 %r4, 7;");
  const auto call = [](const std::string& name) {
    return "\n  mov.u64 %rd4, " + name + ";\n" + blocks +
           "  st.param.b32 [a], %r4;\n  proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "  call (b), %rd4, (a), proto;\n  ld.param.b32 %r4, [b]; }\n";
  };
  EXPECT_EQ(shuffle_codes(from_above + call("f") + and_store, 20, copies + other), taken);
  EXPECT_EQ(shuffle_codes(from_above + call("g") + and_store, 20, copies + other), defined);
  EXPECT_EQ(shuffle_codes("  mov.b32 %r4, %r3;\n" + call("f") + and_store, 20, shuffles + other), taken);
}

// Each activation has registers and parameters of its own.
TEST(AbsentLanes, AreFollowedThroughFunctionsThatCallThemselves) {
  const auto recursive = [](const std::string& depth_0, const std::string& after) {
    return ".func (.param .b32 r) f(.param .b32 n, .param .b32 depth) {\n"
           "  .reg .pred %p<3>; .reg .b32 %r<10>;\n  ld.param.b32 %r3, [n];\n  ld.param.b32 %r5, [depth];\n"
           "  setp.eq.u32 %p1, %r5, 0;\n  @%p1 bra LAST;\n  sub.u32 %r5, %r5, 1;\n"
           "  { .param .b32 a; .param .b32 d; .param .b32 b; st.param.b32 [a], %r3; st.param.b32 [d], %r5;\n"
           "  call.uni (b), f, (a, d);\n  ld.param.b32 %r4, [b]; }\n" +
           after + "  st.param.b32 [r], %r4;\n  ret;\nLAST:\n" + depth_0 +
           "\n  st.param.b32 [r], %r4;\n  ret;\n}\n";
  };
  const auto call = [](const std::string& value) {
    return "\n  { .param .b32 a; .param .b32 d; .param .b32 b; st.param.b32 [a], " + value +
           "; st.param.b32 [d], 3;\n  call.uni (b), f, (a, d);\n  ld.param.b32 %r4, [b]; }\n";
  };
  const std::string passes = recursive("  mov.b32 %r4, %r3;", ""),
                    drops = recursive("  mov.b32 %r4, %r3;\n  mov.b32 %r3, 0;", "  mov.b32 %r4, %r3;\n"),
                    takes = recursive(from_above, ""), keeps = recursive(from_above, "  mov.b32 %r4, %r3;\n");
  EXPECT_EQ(shuffle_codes(from_above + call("%r4") + and_store, 20, passes), taken);
  EXPECT_EQ(shuffle_codes(from_above + call("%r3") + and_store, 20, passes), defined);
  EXPECT_EQ(shuffle_codes(from_above + call("%r4") + and_store, 20, drops), taken)
      << "the caller's register is as it was";
  EXPECT_EQ(shuffle_codes(call("%r3") + and_store, 20, takes), taken);
  EXPECT_EQ(shuffle_codes(call("%r3") + and_store, 20, keeps), defined);
}

// The function writes to its caller's variable, as nvcc -G does with references.
TEST(AbsentLanes, AreFollowedThroughPointersThatAreArguments) {
  const std::string f = ".func f(.param .b64 to, .param .b32 n) {\n  .reg .b32 %r<6>; .reg .b64 %rd<2>;\n"
                        "  ld.param.b64 %rd1, [to];\n  ld.param.b32 %r3, [n];\n" +
                        from_above + "\n  st.b32 [%rd1], %r4;\n  ret;\n}\n",
                    call =
                        "  .local .align 4 .b8 slot[8];\n  mov.u64 %rd5, slot;\n"
                        "  cvta.local.u64 %rd4, %rd5;\n"
                        "  { .param .b64 a; .param .b32 b; st.param.b64 [a], %rd4; st.param.b32 [b], %r3;\n"
                        "  call.uni f, (a, b); }\n";
  EXPECT_EQ(shuffle_codes(call + "  ld.b32 %r4, [%rd4];" + and_store, 20, f), taken);
  EXPECT_EQ(shuffle_codes(call + "  ld.local.b32 %r4, [%rd5];" + and_store, 20, f), taken);
  EXPECT_EQ(shuffle_codes(call + "  st.local.b32 [%rd5], %r1;\n  ld.b32 %r4, [%rd4];" + and_store, 20, f),
            defined);
  EXPECT_EQ(shuffle_codes(call + "  ld.b32 %r4, [%rd4];" + and_store, 32, f), defined);
}

// The others of the warp take part although they exited: PTX names the threads that have not.
TEST(AbsentLanes, VotesAndReductionsAreOfThoseThatAreThere) {
  EXPECT_EQ(
      shuffle_codes(std::string(high_lanes_exit) + "  redux.sync.add.u32 %r4, %r3, -1;" + and_store, 32),
      defined);
  EXPECT_EQ(
      shuffle_codes(
          "  setp.gt.u32 %p2, %r1, 3;\n  vote.sync.ballot.b32 %r4, %p2, -1;" + std::string(and_store), 20),
      defined);
  EXPECT_EQ(shuffle_codes("  match.any.sync.b32 %r4, %r3, -1;" + std::string(and_store), 20), defined);
}

}  // namespace
}  // namespace palladion::sim::testing
