// Pages from values: no command, no file, no terminal.
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <cmath>

#include "report/html/error_map.h"
#include "report/html/run_page.h"
#include "report/run/run_json.h"
#include "report/run/run_text.h"
#include "tests/report/page_data.h"
#include "tests/report/some_findings.h"

namespace palladion::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, NothingInItsDataEndsTheElement) {
  const PageParts parts{.title = "<b>&\"",
                        .report = R"({"kernel":"</script><!-- <script>"})",
                        .trace = {},
                        .recorded = {},
                        .more = {}};
  const std::string page = page_text(parts);
  EXPECT_EQ(data_of(page, "data-report"), "{\"kernel\":\"\\u003c/script>\\u003c!-- \\u003cscript>\"}");
  EXPECT_EQ(data_of(page, "data-trace"), "null");
  EXPECT_THAT(page, HasSubstr("<title>&lt;b>&amp;&quot;</title>"));
  EXPECT_THAT(page, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(page, Not(HasSubstr("\nexport ")));
}

TEST(ErrorMap, CountsByCellAndShowsTheFirst) {
  Array wanted(pl::ShapeDtype{pl::f32, {200, 300}}), got;
  got = wanted;
  set_value(got, 5 * 300 + 7, 1e-9);
  set_value(got, 150 * 300 + 299, 2.0);
  set_value(got, 151 * 300 + 299, std::nan(""));
  const Tolerance tolerance{.relative = 0, .absolute = 1e-6};
  const json::object map = error_map(got, wanted, tolerance, compare(got, wanted, tolerance));
  EXPECT_EQ(json_line(map.at("first")), json_line(json::array{150, 299}));
  int64_t elements = 0, differing = 0, outside = 0;
  for (const json::value& cell : map.at("cells").as_array()) {
    elements += cell.as_array()[0].to_number<int64_t>();
    differing += cell.as_array()[1].to_number<int64_t>();
    outside += cell.as_array()[2].to_number<int64_t>();
  }
  EXPECT_EQ(elements, 60'000);
  EXPECT_EQ(differing, 3);
  EXPECT_EQ(outside, 2);
  EXPECT_TRUE(error_map(got, got, tolerance, compare(got, got, tolerance)).empty());
}

// A launch with one output, and what a run of it gave.
struct SomeRun {
  isa::ArchSpec arch = *isa::find_arch("h200");
  Job job;
  Launched launched;
  Report report;

  SomeRun() {
    job.entry = "gemm";
    job.grid = {132, 1, 1};
    job.block = {128, 1, 1};
    job.buffers = {{.name = "a", .role = Role::in, .type = {pl::f16, {64, 32}}},
                   {.name = "c", .role = Role::out, .type = {pl::f32, {64, 64}}}};
    launched = {.name = "gemm", .title = "gemm  m=64", .arch = &arch, .job = &job};
    launched.contents = {"randn(7)", ""};
    launched.sizes = {{"m", 64}};
    report.command = "run";
    report.schedule = "functional";
    report.sim.emplace();
    report.sim->outputs = {Array(job.buffers[1].type)};
    report.sim->result.completed = true;
    report.sim->result.printed = "<b>";
    report.findings = {{overwritten_tile(), {"functional"}, "palladion run gemm", ""}};
    report.watched.emplace();
    report.exit_code = 1;
  }
};

TEST(RunText, IsMadeOfValues) {
  const SomeRun some;
  std::string out, err, printed;
  for (const Part& part : run_text(some.launched, some.report, {.findings = plain_view()}))
    (part.to == Part::To::out ? out : part.to == Part::To::err ? err : printed) += part.text;
  EXPECT_THAT(out, HasSubstr("gemm  m=64\n  launch      grid 132, block 128, on h200\n"
                             "  in          a  f16[64,32]       randn(7)\n"));
  EXPECT_THAT(out, HasSubstr("  findings    1, see above\n"));
  EXPECT_THAT(out, HasSubstr("  verdict     errors (1 finding)\n"));
  EXPECT_EQ(err, findings_text(some.report.findings, plain_view()));
  EXPECT_EQ(printed, "<b>");
}

TEST(RunPage, IsMadeOfValues) {
  const SomeRun some;
  const std::string json = run_json(some.launched, some.report);
  const std::string page =
      run_page({.launched = some.launched,
                .report = json,
                .findings = some.report.findings,
                .read_source = [](const std::string& file, uint64_t) {
                  return file == "kernels/gemm.cpp" ? std::optional("line 1\n") : std::nullopt;
                }});
  EXPECT_EQ(boost::json::parse(data_of(page, "data-report")), boost::json::parse(json));
  const auto more = boost::json::parse(data_of(page, "data-more"));
  EXPECT_EQ(more.at_pointer("/sources/files/kernels~1gemm.cpp"), "line 1\n");
  EXPECT_EQ(more.at_pointer("/chip/name"), "h200");
  EXPECT_THAT(page, HasSubstr("<title>gemm</title>"));
}

}  // namespace
}  // namespace palladion::report
