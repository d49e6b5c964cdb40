// Which data a run depends on: the right verdict for right and wrong kernels with each way that data can
// take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/explore/data_dependence.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests::data {
namespace {

using namespace sim::check;
using Kind = DataDependence::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// %rd1: `in`, %rd2: `out`, each 256 words; %r1: the thread; %rd3, %rd4: its words of both.
std::string kernel(const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 full;\n"
         ".local .align 16 .b8 mine[64];\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd3, %rd1, %rd5;\nadd.u64 %rd4, %rd2, %rd5;\n"
         "mov.u32 %r14, tile;\nmad.lo.u32 %r15, %r1, 4, %r14;\n" +
         body + "\nret;\n}\n";
}

DataScope scope_of(const std::string& body) {
  std::vector<uint32_t> in(256), out(256);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = (i * 7) % 64;
  DataObserver observer;
  sim::RunOptions options;
  options.observer = &observer;
  sim::testing::PtxRunner runner(kernel(body));
  runner.shape({1, 1, 1}, {64, 1, 1}).array(in, "in").array(out, "out").run_clean(options);
  return observer.scope();
}

// What the uses do, by the first word of their instructions behind the guard.
std::vector<std::pair<std::string, Kind>> uses(const std::vector<DataDependence>& all) {
  std::vector<std::pair<std::string, Kind>> out;
  for (const DataDependence& d : all) {
    const std::string& text = d.use.instruction;
    const size_t first = text[0] == '@' ? text.find(' ') + 1 : 0;
    out.emplace_back(text.substr(first, text.find(' ', first) - first), d.kind);
  }
  return out;
}

void expect_all_data(const std::string& body) {
  const DataScope scope = scope_of(body);
  EXPECT_THAT(uses(scope.dependences), IsEmpty()) << body;
  EXPECT_THAT(uses(scope.in_bounds), IsEmpty()) << body;
}

// What a CTA does in a smaller grid is what it did in this one, unless it asks.
TEST(Data, WhatTellsOfTheGrid) {
  EXPECT_FALSE(scope_of("mov.u32 %r2, %ctaid.x;\nst.global.u32 [%rd4], %r2;").depends_on_grid);
  EXPECT_FALSE(scope_of("mov.u32 %r2, %cluster_nctaid.x;\nst.global.u32 [%rd4], %r2;").depends_on_grid);
  for (const char* const special : {"%nctaid.x", "%nctaid.y", "%nclusterid.x", "%smid"})
    EXPECT_TRUE(
        scope_of("mov.u32 %r2, " + std::string(special) + ";\nst.global.u32 [%rd4], %r2;").depends_on_grid)
        << special;
}

TEST(Data, WhatDependsOnTheOrder) {
  EXPECT_FALSE(scope_of("mov.u32 %r2, %nctaid.x;\nst.global.u32 [%rd4], %r2;").depends_on_order);
  for (const char* const text : {"mov.u32 %r2, %clock;", "mov.u32 %r2, %smid;", "activemask.b32 %r2;",
                                 "red.global.add.u32 [%rd4], 1;", "atom.global.exch.b32 %r2, [%rd4], 1;"})
    EXPECT_TRUE(scope_of(std::string(text) + "\nst.global.u32 [%rd3], %r1;").depends_on_order) << text;
}

TEST(Data, ValuesThatAreOnlyComputedDecideNothing) {
  expect_all_data("ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;");
  // A predicate of a computation, a selection.
  expect_all_data(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 5;
@%p1 add.u32 %r2, %r2, 1;
selp.u32 %r3, %r2, 7, %p1;
shfl.sync.bfly.b32 %r3, %r3, 1, 0x1f, 0xffffffff;
st.global.u32 [%rd4], %r3;)");
  // Shared memory at addresses of the shape.
  expect_all_data(R"(ld.global.u32 %r2, [%rd3];
st.shared.u32 [%r15], %r2;
bar.sync 0;
ld.shared.u32 %r3, [%r15];
st.global.u32 [%rd4], %r3;)");
}

TEST(Data, AddressesThroughMemoryThatHoldNoDataAreOfTheShape) {
  // An address that one thread computes and another reads, beside data that lie in the same array.
  const std::string body = R"(ld.global.u32 %r2, [%rd3];
st.shared.u32 [%r15+256], %r2;
shl.b32 %r4, %r1, 2;
st.shared.u32 [%r15], %r4;
bar.sync 0;
ld.shared.u32 %r5, [%r15+OFFSET];
and.b32 %r5, %r5, 252;
cvt.u64.u32 %rd6, %r5;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r1;)";
  const auto with = [&](const char* offset) {
    return std::string(body).replace(body.find("OFFSET"), 6, offset);
  };
  expect_all_data(with("0"));
  EXPECT_THAT(uses(scope_of(with("256")).dependences), ElementsAre(Pair("st.global.u32", Kind::address)));
}

TEST(Data, LocalMemoryIsFollowedForEachLane) {
  const std::string body = R"(ld.global.u32 %r2, [%rd3];
st.local.u32 [mine], %r2;
st.local.u32 [mine+4], %r1;
ld.local.u32 %r5, [mine+OFFSET];
and.b32 %r5, %r5, 63;
mul.wide.u32 %rd6, %r5, 4;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r5;)";
  const auto with = [&](const char* offset) {
    return std::string(body).replace(body.find("OFFSET"), 6, offset);
  };
  expect_all_data(with("4"));
  EXPECT_THAT(uses(scope_of(with("0")).dependences), ElementsAre(Pair("st.global.u32", Kind::address)));
}

TEST(Data, BranchesAndPredicatesAreNamedWithTheirLoads) {
  const DataScope branch = scope_of(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 1000;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
st.global.u32 [%rd4], %r1;)");
  ASSERT_THAT(uses(branch.dependences), ElementsAre(Pair("bra", Kind::branch)));
  EXPECT_EQ(branch.dependences[0].load.instruction, "ld.global.u32 %r2, [%rd3];");
  EXPECT_NE(branch.dependences[0].load.ptx_line, 0U);
  const DataScope predicate = scope_of(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 5;
@%p1 st.global.u32 [%rd4], %r1;)");
  EXPECT_THAT(uses(predicate.dependences), ElementsAre(Pair("st.global.u32", Kind::predicate)));
}

const std::string branches_on_data = "ld.global.u32 %r2, [%rd3];\nsetp.gt.u32 %p1, %r2, 20;\n";

TEST(Data, ABranchAroundComputationDecidesValuesAlone) {
  expect_all_data(branches_on_data + R"(mov.u32 %r3, %r1;
@%p1 bra SKIP;
add.u32 %r3, %r2, 1;
SKIP:
st.global.u32 [%rd4], %r3;)");
  expect_all_data(branches_on_data + R"(@%p1 bra ELSE;
add.u32 %r3, %r2, 1;
setp.lt.u32 %p2, %r3, 7;
@%p2 bra MEET;
shl.b32 %r3, %r3, 1;
bra.uni MEET;
ELSE:
mov.u32 %r3, 9;
MEET:
bar.sync 0;
st.global.u32 [%rd4], %r3;)");
}

TEST(Data, ABranchAroundWhatDecidesIsADependence) {
  const auto branch = ElementsAre(Pair("bra", Kind::branch));
  const auto deps = [](const std::string& body) {
    return uses(scope_of(branches_on_data + body).dependences);
  };
  // an address, at once and through shared memory
  EXPECT_THAT(deps(R"(mov.u32 %r3, 0;
@%p1 bra SKIP;
mov.u32 %r3, 4;
SKIP:
cvt.u64.u32 %rd6, %r3;
add.u64 %rd7, %rd4, %rd6;
ld.global.u32 %r4, [%rd7];)"),
              branch);
  EXPECT_THAT(deps(R"(mov.u32 %r3, 0;
@%p1 bra SKIP;
mov.u32 %r3, 4;
SKIP:
st.shared.u32 [%r15], %r3;
ld.shared.u32 %r4, [%r15];
cvt.u64.u32 %rd6, %r4;
add.u64 %rd7, %rd4, %rd6;
ld.global.u32 %r4, [%rd7];)"),
              testing::Contains(Pair("bra", Kind::branch)));
  // a predicate of an access
  EXPECT_THAT(deps(R"(setp.eq.u32 %p2, %r1, 0;
@%p1 bra SKIP;
setp.eq.u32 %p2, %r1, 1;
SKIP:
@%p2 st.global.u32 [%rd4], %r1;)"),
              branch);
  // an access, a loop, another warp's lanes, what the other way leaves unwritten
  EXPECT_THAT(deps("@%p1 bra SKIP;\nst.global.u32 [%rd4], %r1;\nSKIP:"), branch);
  EXPECT_THAT(deps("mov.u32 %r3, 0;\nAGAIN:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r2;\n"
                   "@%p2 bra AGAIN;\nst.global.u32 [%rd4], %r3;"),
              branch);
  EXPECT_THAT(deps("mov.u32 %r3, 0;\n@%p1 bra SKIP;\nactivemask.b32 %r4;\n"
                   "shfl.sync.idx.b32 %r3, %r2, 0, 31, %r4;\nSKIP:\nst.global.u32 [%rd4], %r3;"),
              testing::Contains(Pair("bra", Kind::branch)));
  EXPECT_THAT(deps("@%p1 bra SKIP;\nmov.u32 %r3, 1;\nSKIP:\nsetp.gt.u32 %p1, %r2, 1000;\n"
                   "@%p1 st.global.u32 [%rd4], %r3;"),
              testing::Contains(Pair("bra", Kind::branch)));
}

// Nothing is known of the lanes in which it is false when it is true nowhere.
TEST(Data, APredicateThatIsFalseEverywhereIsADependenceAsWell) {
  EXPECT_THAT(uses(scope_of(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 1000;
@%p1 bar.sync 0;
st.global.u32 [%rd4], %r1;)")
                       .dependences),
              ElementsAre(Pair("bar.sync", Kind::predicate)));
  EXPECT_THAT(uses(scope_of(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 1000;
mov.u32 %r3, %r1;
@%p1 mov.u32 %r3, 0;
mul.wide.u32 %rd6, %r3, 4;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r1;)")
                       .dependences),
              ElementsAre(Pair("st.global.u32", Kind::address)));
}

const std::string gather = R"(ld.global.u32 %r2, [%rd3];
mul.wide.u32 %rd6, %r2, 4;
add.u64 %rd7, %rd1, %rd6;
ld.global.u32 %r3, [%rd7];
)";

TEST(Data, AGatherFromAnArrayThatIsNotWrittenNeedsItsBoundsAlone) {
  const DataScope scope = scope_of(gather + "st.global.u32 [%rd4], %r3;");
  EXPECT_THAT(uses(scope.dependences), IsEmpty());
  EXPECT_THAT(uses(scope.in_bounds), ElementsAre(Pair("ld.global.u32", Kind::address)));
}

TEST(Data, AGatherFromAnArrayThatIsWrittenIsADependence) {
  const DataScope scope = scope_of(gather + "st.global.u32 [%rd3+512], %r3;");
  EXPECT_THAT(uses(scope.dependences), ElementsAre(Pair("ld.global.u32", Kind::address)));
}

TEST(Data, AGatherFromSharedMemoryIsADependence) {
  EXPECT_THAT(uses(scope_of(R"(st.shared.u32 [%r15], %r1;
bar.sync 0;
ld.global.u32 %r2, [%rd3];
mad.lo.u32 %r3, %r2, 4, %r14;
ld.shared.u32 %r4, [%r3];
st.global.u32 [%rd4], %r4;)")
                       .dependences),
              ElementsAre(Pair("ld.shared.u32", Kind::address)));
}

TEST(Data, AScatterIsADependence) {
  EXPECT_THAT(uses(scope_of(R"(ld.global.u32 %r2, [%rd3];
mul.wide.u32 %rd6, %r2, 4;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r1;)")
                       .dependences),
              ElementsAre(Pair("st.global.u32", Kind::address)));
}

TEST(Data, AsynchronousCopiesBringData) {
  const std::string body = R"(cp.async.ca.shared.global [%r15], [%rd3], 4;
cp.async.wait_all;
bar.sync 0;
ld.shared.u32 %r2, [%r15];
and.b32 %r2, %r2, 63;
USE)";
  const auto with = [&](const char* use) { return std::string(body).replace(body.find("USE"), 3, use); };
  expect_all_data(with("st.global.u32 [%rd4], %r2;"));
  EXPECT_THAT(uses(scope_of(with("mul.wide.u32 %rd6, %r2, 4;\nadd.u64 %rd7, %rd2, %rd6;\n"
                                 "st.global.u32 [%rd7], %r1;"))
                       .dependences),
              ElementsAre(Pair("st.global.u32", Kind::address)));
}

TEST(Data, CountsAndTicketsAreData) {
  EXPECT_THAT(uses(scope_of(R"(ld.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r1, 0;
add.u32 %r2, %r2, 1;
@!%p1 mbarrier.init.shared::cta.b64 [full], %r2;)")
                       .dependences),
              ElementsAre(Pair("mbarrier.init.shared::cta.b64", Kind::count)));
  EXPECT_THAT(uses(scope_of(R"(atom.global.add.u32 %r2, [%rd2+512], 1;
mul.wide.u32 %rd6, %r2, 4;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r1;)")
                       .dependences),
              ElementsAre(Pair("st.global.u32", Kind::address)));
}

TEST(Data, ABarrierThatReducesPredicatesPassesThemOn) {
  EXPECT_THAT(uses(scope_of(R"(ld.global.u32 %r2, [%rd3];
setp.gt.u32 %p1, %r2, 5;
bar.red.popc.u32 %r3, 0, %p1;
setp.gt.u32 %p2, %r3, 3;
@%p2 bra END;
st.global.u32 [%rd4], %r1;
END:)")
                       .dependences),
              ElementsAre(Pair("bra", Kind::branch)));
}

TEST(Data, ALaneAloneIsFollowed) {
  // Lane 0's datum is overwritten before it is used; a shuffle passes it to the others.
  const std::string body = R"(ld.global.u32 %r2, [%rd3];
shfl.sync.idx.b32 %r3, %r2, 0, 0x1f, 0xffffffff;
mov.u32 %r2, %r1;
mul.wide.u32 %rd6, USE, 4;
add.u64 %rd7, %rd2, %rd6;
st.global.u32 [%rd7], %r1;)";
  const auto with = [&](const char* use) { return std::string(body).replace(body.find("USE"), 3, use); };
  expect_all_data(with("%r2"));
  EXPECT_THAT(uses(scope_of(with("%r3")).dependences), ElementsAre(Pair("st.global.u32", Kind::address)));
}

}  // namespace
}  // namespace palladion::tests::data
