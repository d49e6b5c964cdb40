#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/findings/findings_json.h"
#include "tests/cli/some_findings.h"
#include "tests/support/golden.h"

namespace palladion::cli {
namespace {

using nlohmann::json;
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
  EXPECT_TRUE(golden::compare("cli/findings.sarif", sarif_text(some_seen(), some_run())));
}

TEST(Sarif, RulesResultsAndPlaces) {
  const json log = json::parse(sarif_text(some_seen(), some_run()));
  EXPECT_EQ(log["version"], "2.1.0");
  const json& run = log["runs"][0];
  const json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), 3u);
  for (const json& result : run["results"])
    EXPECT_EQ(rules[result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
  const json& race = run["results"][0];
  EXPECT_EQ(race["level"], "error");
  EXPECT_EQ(race["occurrenceCount"], 64);
  const json& place = race["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "kernels/gemm.cpp");
  EXPECT_EQ(place["region"]["startLine"], 41);
  EXPECT_EQ(race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 77);
  EXPECT_THAT(race["message"]["text"].get<std::string>(), HasSubstr("missing: warp 6 arrives"));
  EXPECT_TRUE(race["suppressions"].empty());
  const json& strict = run["results"][2];
  EXPECT_EQ(strict["level"], "warning");
  EXPECT_EQ(strict["suppressions"][0]["justification"], "as CUTLASS does");
  EXPECT_EQ(strict["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "ring%20one.ptx");
}

TEST(Sarif, FingerprintsOutliveOtherLines) {
  const sim::Finding f = overwritten_tile();
  sim::Finding moved = f, other = f;
  moved.sites[0].source.line += 10;
  moved.sites[0].source.file = "/elsewhere/gemm.cpp";
  moved.object = "`a_smem`[1] bytes [64, 128) of CTA (0,0,0)";
  other.object = "`b_smem`[1] bytes [0, 16384) of CTA (3,0,0)";
  EXPECT_EQ(fingerprint(f), fingerprint(moved));
  EXPECT_NE(fingerprint(f), fingerprint(other));
}

TEST(Sarif, WithoutFindingsItIsARunWithoutResults) {
  const json log = json::parse(sarif_text({}, {}));
  EXPECT_TRUE(log["runs"][0]["results"].empty());
  EXPECT_TRUE(log["runs"][0]["invocations"][0]["executionSuccessful"].get<bool>());
}

TEST(FindingsJson, HoldsWhatTheTextSays) {
  JsonWriter writer;
  write_findings(writer, some_seen());
  const json all = json::parse(writer.text());
  const json& race = all[0];
  EXPECT_EQ(race["object"], overwritten_tile().object);
  EXPECT_EQ(race["missing"], overwritten_tile().missing);
  EXPECT_EQ(race["rule"], "Conflict and Data-races");
  EXPECT_EQ(race["sites"][0]["role"], "producer");
  EXPECT_EQ(race["sites"][0]["what"], "asynchronous write");
  EXPECT_EQ(race["sites"][0]["occurrence"], 6);
  EXPECT_EQ(race["schedules"].size(), 2u);
  EXPECT_EQ(race["suppressed"], false);
  EXPECT_EQ(all[2]["reason"], "as CUTLASS does");
}

}  // namespace
}  // namespace palladion::cli
