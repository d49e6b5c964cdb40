#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/json/findings_json.h"
#include "sim/launch/fault.h"
#include "tests/report/some_findings.h"
#include "tests/support/golden.h"
#include "tests/support/json_reading.h"

namespace palladion::report {
namespace {

using testing::HasSubstr;

std::vector<SeenFinding> some_seen() {
  return {{overwritten_tile(), {"functional", "latest"}, "palladion run gemm --schedule functional", ""},
          {two_roles_wait(), {"latest"}, "", ""},
          {unaligned_branch(), {"functional"}, "", "as CUTLASS does"}};
}

SarifRun some_run() {
  SarifRun run;
  run.command_line = "palladion check gemm";
  run.ptx_name = "/home/me/ring one.ptx";
  run.folder = "/home/me";
  run.suppressions = true;
  run.exit_code = 1;
  return run;
}

TEST(Sarif, Golden) {
  EXPECT_TRUE(golden::compare("cli/findings.sarif", sarif_text(findings_json(some_seen()), some_run())));
}

TEST(Sarif, RulesResultsAndPlaces) {
  const json::value log = json::parse(sarif_text(findings_json(some_seen()), some_run()));
  EXPECT_EQ(log.at_pointer("/version"), "2.1.0");
  const json::value& run = log.at_pointer("/runs/0");
  const json::array& rules = run.at_pointer("/tool/driver/rules").as_array();
  ASSERT_EQ(rules.size(), 3u);
  for (const json::value& result : run.at_pointer("/results").as_array())
    EXPECT_EQ(rules.at(result.at("ruleIndex").to_number<size_t>()).at("id"), result.at_pointer("/ruleId"));
  const json::value& race = run.at_pointer("/results/0");
  EXPECT_EQ(race.at_pointer("/level"), "error");
  EXPECT_EQ(race.at_pointer("/occurrenceCount"), 64);
  const json::value& place = race.at_pointer("/locations/0/physicalLocation");
  EXPECT_EQ(place.at_pointer("/artifactLocation/uri"), "kernels/gemm.cpp");
  EXPECT_EQ(place.at_pointer("/region/startLine"), 41);
  EXPECT_EQ(race.at_pointer("/relatedLocations/0/physicalLocation/region/startLine"), 77);
  EXPECT_THAT(text(race.at_pointer("/message/text")),
              HasSubstr("missing: " + missing_text(overwritten_tile())));
  EXPECT_TRUE(race.at_pointer("/suppressions").as_array().empty());
  const json::value& strict = run.at_pointer("/results/2");
  EXPECT_EQ(strict.at_pointer("/level"), "warning");
  EXPECT_EQ(strict.at_pointer("/suppressions/0/justification"), "as CUTLASS does");
  EXPECT_EQ(strict.at_pointer("/locations/0/physicalLocation/artifactLocation/uri"), "ring%20one.ptx");
}

// A site without a source line, of a program whose PTX has no file.
TEST(Sarif, WhatHasNoPlaceStandsAtTheSubject) {
  SarifRun run;
  run.folder = "/home/me";
  run.subject = "/home/me/train.py";
  SeenFinding seen;
  seen.finding = overwritten_tile();
  for (sim::Site& site : seen.finding.sites) site.source = {};
  const auto place = [&](const char* pointer) {
    return json::parse(sarif_text(findings_json({&seen, 1}), run))
        .at_pointer(std::string("/runs/0/results/0/locations/0/") + pointer);
  };
  EXPECT_EQ(place("physicalLocation/artifactLocation/uri"), "train.py");
  EXPECT_FALSE(place("physicalLocation").as_object().contains("region"));
  EXPECT_EQ(place("message/text").as_string().find("writes, asynchronously"), 0u);
  seen.finding.sites.clear();
  EXPECT_EQ(place("physicalLocation/artifactLocation/uri"), "train.py");
  run.subject.clear();
  EXPECT_TRUE(json::parse(sarif_text(findings_json({&seen, 1}), run))
                  .at_pointer("/runs/0/results/0/locations")
                  .as_array()
                  .empty());
}

TEST(Sarif, FingerprintsOutliveOtherLines) {
  const sim::Finding f = overwritten_tile();
  sim::Finding moved = f, other = f;
  moved.sites[0].source.line += 10;
  moved.sites[0].source.file = "/elsewhere/gemm.cpp";
  moved.object.names[0].bytes = {{64, 128}};
  other.object.names[0].name = "b_smem";
  EXPECT_EQ(fingerprint(f), fingerprint(moved));
  EXPECT_NE(fingerprint(f), fingerprint(other));
}

TEST(Sarif, WithoutFindingsItIsARunWithoutResults) {
  const json::value log = json::parse(sarif_text({}, {}));
  EXPECT_TRUE(log.at_pointer("/runs/0/results").as_array().empty());
  EXPECT_TRUE(log.at_pointer("/runs/0/invocations/0/executionSuccessful").as_bool());
}

// What a fault says, with its numbers.
TEST(FindingsJson, HoldsTheValuesOfASentence) {
  using sim::Phrase;
  const sim::Finding f = sim::fault(
      sim::Code::global_bounds,
      sim::say<Phrase::outside_global>("read", 4, sim::say<Phrase::past_array>(0x2000, 0, "out", 512)));
  const json::array all = findings_json(std::vector<SeenFinding>{{f, {}, "", ""}});
  EXPECT_EQ(all[0].at_pointer("/said/message/phrase"), "outside_global");
  EXPECT_EQ(all[0].at_pointer("/said/message/values/1"), 4);
  EXPECT_EQ(all[0].at_pointer("/said/message/values/2/phrase"), "past_array");
  EXPECT_EQ(all[0].at_pointer("/said/message/values/2/values/0"), 0x2000);
}

TEST(FindingsJson, HoldsWhatTheTextSays) {
  const json::array all = findings_json(some_seen());
  const json::value& race = all[0];
  EXPECT_EQ(text(race.at_pointer("/object")), report::object_text(overwritten_tile()));
  EXPECT_EQ(race.at_pointer("/about/kind"), "shared_memory");
  EXPECT_EQ(race.at_pointer("/about/names/0/name"), "a_smem");
  EXPECT_EQ(race.at_pointer("/about/names/0/index"), 1);
  EXPECT_EQ(race.at_pointer("/about/names/0/bytes/0/1"), 16384);
  EXPECT_EQ(race.at_pointer("/about/cta/0"), 3);
  EXPECT_EQ(text(race.at_pointer("/missing")), report::missing_text(overwritten_tile()));
  EXPECT_EQ(race.at_pointer("/said/missing/phrase"), "never_synchronised");
  EXPECT_EQ(race.at_pointer("/rule"), "Conflict and Data-races");
  EXPECT_EQ(race.at_pointer("/sites/0/role"), "issues bulk loads");
  EXPECT_EQ(race.at_pointer("/sites/0/what"), "writes, asynchronously");
  EXPECT_EQ(race.at_pointer("/sites/0/does"), "writes");
  EXPECT_EQ(race.at_pointer("/sites/0/asynchronous"), true);
  EXPECT_EQ(race.at_pointer("/sites/1/earlier"), true);
  EXPECT_EQ(race.at_pointer("/sites/0/occurrence"), 6);
  EXPECT_EQ(race.at_pointer("/schedules").as_array().size(), 2u);
  EXPECT_EQ(race.at_pointer("/suppressed"), false);
  EXPECT_EQ(all[2].at("reason"), "as CUTLASS does");
}

TEST(FindingsJson, NamesHaveTheirSymbolAndPlacesTheirFrames) {
  SeenFinding seen;
  seen.finding = overwritten_tile();
  seen.finding.kernel = "_Z4gemmPf";
  seen.finding.object.names[0].name = "_ZZ4gemmPfE4tile";
  seen.finding.sites[0].frames = {{{"ring.h", 30, 1}, "_ZN4ring4waitEv"}, {{"gemm.cu", 7, 3}, ""}};
  const json::value f = findings_json({&seen, 1})[0];
  EXPECT_EQ(f.at_pointer("/kernel/name"), "gemm");
  EXPECT_EQ(f.at_pointer("/kernel/symbol"), "_Z4gemmPf");
  EXPECT_EQ(f.at_pointer("/about/names/0/name"), "gemm::tile");
  EXPECT_EQ(f.at_pointer("/about/names/0/symbol"), "_ZZ4gemmPfE4tile");
  EXPECT_EQ(f.at_pointer("/sites/0/frames/0/line"), 30);
  EXPECT_EQ(f.at_pointer("/sites/0/frames/0/function/name"), "ring::wait");
  EXPECT_EQ(f.at_pointer("/sites/0/frames/1/file"), "gemm.cu");
  EXPECT_FALSE(f.at_pointer("/sites/1").as_object().contains("frames"));
}

TEST(FindingsJson, TheWaitsOfADeadlockAreFields) {
  SeenFinding seen;
  seen.finding = two_roles_wait();
  const json::value deadlock = findings_json({&seen, 1})[0];
  ASSERT_EQ(deadlock.at("waits").as_array().size(), 2u);
  const json::value& empty = deadlock.at_pointer("/waits/0");
  EXPECT_EQ(empty.at("site"), 0);
  EXPECT_EQ(empty.at("kind"), "mbarrier");
  EXPECT_EQ(empty.at("object"), "mbarrier `empty`[0]");
  for (const char* zero : {"phase", "parity", "pending_bytes"}) EXPECT_EQ(empty.at(zero), 0) << zero;
  for (const char* one : {"expected_arrivals", "pending_arrivals", "alike"})
    EXPECT_EQ(empty.at(one), 1) << one;
  EXPECT_EQ(empty.at_pointer("/arrivers/0/warp"), 4);
  EXPECT_EQ(empty.at_pointer("/arrivers/0/lanes"), "0000ffff");
  EXPECT_EQ(empty.at_pointer("/arrivers/0/site"), 1);
  EXPECT_FALSE(deadlock.at_pointer("/waits/1/arrivers/0").as_object().contains("site"));
  seen.finding = overwritten_tile();
  EXPECT_TRUE(findings_json({&seen, 1})[0].at("waits").as_array().empty());
}

}  // namespace
}  // namespace palladion::report
