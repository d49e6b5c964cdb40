#include "tests/report/page.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <regex>

namespace palladion::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* small_matmul = "run matmul_ws --shape m=512,n=512,k=512 --schedule hardware ";

TEST_F(Report, IsOneFileThatNamesNoOther) {
  const std::string page = made(std::string(small_matmul) + "--why");
  EXPECT_LE(page.size(), 3'000'000U);
  const std::string without_data = page.substr(0, page.find("<script type=\"application/json\"")) +
                                   page.substr(page.find("<script type=\"module\">"));
  const std::regex foreign(
      R"re(\bsrc\s*=|https?://(?!www\.w3\.org/2000/svg)|@import|url\(|\bfetch\(|\bimport\s*\(|XMLHttpRequest)re");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(without_data, found, foreign)) << found.str();
  EXPECT_THAT(without_data, Not(HasSubstr("<!-- data -->")));
}

TEST_F(Report, HoldsTheJsonAsItIsWritten) {
  const std::string page = made(std::string(small_matmul) + "--json " + file("r.json"));
  EXPECT_EQ(boost::json::parse(data_of(page, "data-report")), boost::json::parse(read(file("r.json"))));
}

TEST_F(Report, HoldsTheTimelineThatATraceHas) {
  const std::string page = made(std::string(small_matmul) + "--trace " + file("t.jsonl"));
  const auto trace = boost::json::parse(data_of(page, "data-trace"));
  std::istringstream lines(read(file("t.jsonl")));
  const auto column = [&](const char* name, size_t i) {
    return trace.at(name).as_array()[i].to_number<int64_t>();
  };
  size_t i = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = boost::json::parse(text);
    const auto& kind = line.at("kind").as_string();
    if (kind != "slice" && kind != "instant") continue;
    const bool instant = kind == "instant";
    ASSERT_LT(i, trace.at("at").as_array().size());
    EXPECT_EQ(column("at", i), line.at(instant ? "at" : "from").to_number<int64_t>());
    EXPECT_EQ(column("length", i), instant ? -1 : line.at("to").to_number<int64_t>() - column("at", i));
    EXPECT_EQ(trace.at("texts").as_array()[size_t(column("name", i))], line.at("name"));
    ++i;
  }
  EXPECT_EQ(i, trace.at("at").as_array().size());
  EXPECT_GT(i, 1000U);
}

// A warp's lanes store and load at a distance of 128 bytes, and of 8.
constexpr const char* conflicts = R"(
.version 8.5
.target sm_90a
.address_size 64
.visible .entry conflicts(.param .u64 out) {
  .reg .b32 %r<6>;
  .reg .b64 %a<4>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %a1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r4, tile;
  shl.b32 %r2, %r1, 7;
  add.u32 %r2, %r2, %r4;
  st.shared.u32 [%r2], %r1;
  shl.b32 %r3, %r1, 3;
  add.u32 %r3, %r3, %r4;
  st.shared.u32 [%r3], %r1;
  ld.shared.u32 %r5, [%r2];
  mul.wide.u32 %a2, %r1, 4;
  add.u64 %a3, %a1, %a2;
  st.global.u32 [%a3], %r5;
  ret;
})";

// The same conflicts that the clock counts, when all CTAs are recorded.
TEST_F(Report, CountsTheBankConflictsOfTheClock) {
  std::ofstream(file("conflicts.ptx")) << conflicts;
  const std::string page =
      made("run --ptx " + file("conflicts.ptx") +
           " --grid 3 --block 32 --arg out:u32[32] --schedule hardware --trace-ctas all");
  const auto report = boost::json::parse(data_of(page, "data-report"));
  const auto recorded = boost::json::parse(data_of(page, "data-recorded"));
  int64_t extra = 0;
  for (const auto& access : recorded.at("accesses").as_array())
    extra += access.at("extra").to_number<int64_t>();
  EXPECT_EQ(extra, 3 * (31 + 1 + 31));
  EXPECT_EQ(extra,
            report.at("sim").at("clock").at("counters").at("smem_bank_conflicts").to_number<int64_t>());
}

// Each lane copies 16 bytes, the last one first in memory.
constexpr const char* copies = R"(
.version 8.5
.target sm_90a
.address_size 64
.visible .entry copies(.param .u64 in) {
  .reg .b32 %r<5>;
  .reg .b64 %a<4>;
  .shared .align 16 .b8 tile[512];
  ld.param.u64 %a1, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  sub.u32 %r3, 31, %r1;
  shl.b32 %r3, %r3, 4;
  add.u32 %r3, %r3, %r2;
  mul.wide.u32 %a2, %r1, 16;
  add.u64 %a3, %a1, %a2;
  cp.async.cg.shared.global [%r3], [%a3], 16;
  cp.async.wait_all;
  ret;
})";

// By chunk of 16 bytes: the lane that fills it first, and whether cp.async did.
std::map<int64_t, std::pair<int64_t, bool>> filled_of(const std::string& page) {
  const auto recorded = boost::json::parse(data_of(page, "data-recorded"));
  const auto& f = recorded.at("filled");
  EXPECT_TRUE(f.at("whole").as_bool());
  const auto column = [&](const char* name, size_t i) {
    return f.at(name).as_array().at(i).to_number<int64_t>();
  };
  std::map<int64_t, std::pair<int64_t, bool>> out;
  for (size_t i = 0; i < f.at("chunks").as_array().size(); ++i)
    out[column("chunks", i)] = {column("lanes", i), column("copied", i) != 0};
  return out;
}

TEST_F(Report, SaysWhichLaneFillsWhat) {
  std::ofstream(file("conflicts.ptx")) << conflicts;
  const auto stored =
      filled_of(made("run --ptx " + file("conflicts.ptx") + " --grid 1 --block 32 --arg out:u32[32]"));
  ASSERT_EQ(stored.size(), 32U + 16U - 2U);
  const int64_t base = stored.begin()->first;
  for (int64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(stored.at(base + 8 * lane), std::pair(lane, false));
  for (const int64_t chunk : {1, 2, 7, 9, 15})
    EXPECT_EQ(stored.at(base + chunk), std::pair(2 * chunk, false));

  std::ofstream(file("copies.ptx")) << copies;
  const auto copied =
      filled_of(made("run --ptx " + file("copies.ptx") + " --grid 1 --block 32 --arg in:u32[128]=iota"));
  ASSERT_EQ(copied.size(), 32U);
  for (int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(copied.at(copied.begin()->first + 31 - lane), std::pair(lane, true));
}

TEST_F(Report, AWindowIsShownAndNamed) {
  const std::string page = made(std::string(small_matmul) + "--trace-ctas 1..2 --trace-cycles 4000..6000");
  const auto more = boost::json::parse(data_of(page, "data-more"));
  EXPECT_EQ(more.at("shown").at("ctas").as_string(), "CTAs 1 to 2");
  EXPECT_EQ(boost::json::serialize(more.at("shown").at("window")), "[4000,6000]");
  const auto trace = boost::json::parse(data_of(page, "data-trace"));
  for (const auto& at : trace.at("at").as_array()) {
    EXPECT_GE(at.to_number<int64_t>(), 4000);
    EXPECT_LE(at.to_number<int64_t>(), 6000);
  }
}

TEST_F(Report, IsTheSameForAnyNumberOfThreads) {
  const auto without_wall = [](const std::string& page) {
    auto report = boost::json::parse(data_of(page, "data-report"));
    report.as_object().erase("wall");
    return boost::json::serialize(report) + data_of(page, "data-trace") + data_of(page, "data-recorded") +
           data_of(page, "data-more");
  };
  const std::string one = without_wall(made(std::string(small_matmul) + "--trace-ctas all --threads 1"));
  EXPECT_EQ(one, without_wall(made(std::string(small_matmul) + "--trace-ctas all --threads 3")));
}

TEST_F(Report, AFullDiskLosesNothingElse) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Ran ran = run("run vector_add --report /dev/full --json " + file("r.json"));
  EXPECT_EQ(ran.status, 74);
  EXPECT_THAT(ran.err, HasSubstr("/dev/full"));
  EXPECT_THAT(ran.out, HasSubstr("vector_add"));
  EXPECT_TRUE(boost::json::parse(read(file("r.json"))).is_object());
}

TEST_F(Report, AFolderOrAnotherOutputIsRefusedBeforeTheRun) {
  EXPECT_EQ(run("run vector_add --report " + folder_.path().string()).status, 2);
  const Ran same = run("run vector_add --json " + file("same") + " --report " + file("same"));
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("one would replace the other"));
  EXPECT_EQ(run("run vector_add --trace-ctas all").status, 2);
}

}  // namespace
}  // namespace palladion::cli
