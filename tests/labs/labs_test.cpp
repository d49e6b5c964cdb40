// Every lab: its starter fails as intended, its solution passes, each wrong answer gets its own explanation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "labs/judge.h"
#include "report/lab/verdict_text.h"
#include "tests/labs/submissions.h"

namespace palladion {
namespace {

using labs::Lab;
using labs::LabVerdict;

LabVerdict judged(const Lab& lab, const std::string& variant) {
  auto verdict = judge(lab, written(lab.name, variant + ".cpp", lab.variant(variant)));
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text);
  return verdict ? std::move(*verdict) : LabVerdict{.lab = &lab, .file = {}};
}

std::string seen(const LabVerdict& v) {
  std::string text = v.refusal;
  for (const labs::SeenCode& code : v.symptoms.codes) text += code.text + "\n";
  for (const labs::MeasureVerdict& m : v.measures)
    text += fmt::format("{}: {}\n", m.rule->quantity, m.value.value_or(-1));
  return text;
}

class EachLab : public testing::TestWithParam<const Lab*> {};

TEST_P(EachLab, SolutionPasses) {
  const LabVerdict v = judged(*GetParam(), "solution");
  EXPECT_TRUE(v.passed) << seen(v);
}

TEST_P(EachLab, MistakesAreRecognised) {
  for (const labs::Reply& reply : GetParam()->replies) {
    if (reply.name.empty()) continue;
    const LabVerdict v = judged(*GetParam(), reply.name);
    EXPECT_FALSE(v.passed) << reply.name;
    ASSERT_NE(v.reply, nullptr) << reply.name << ": no reply to\n" << seen(v);
    EXPECT_EQ(v.reply->name, reply.name) << seen(v);
    const std::string text = report::reply_text(v);
    for (const char* missing : {"line ?", "? extra", "? cycles", "{line}", "{measured}", "{limit}"})
      EXPECT_EQ(text.find(missing), std::string::npos) << reply.name << ": a number is missing in\n" << text;
  }
}

// What a learner sees is complete: no mark of a variant is left, the starter is not the solution.
TEST_P(EachLab, TextsAreComplete) {
  const Lab& lab = *GetParam();
  for (const char* variant : {"starter", "solution"}) {
    EXPECT_EQ(lab.variant(variant).find("//!"), std::string::npos);
    EXPECT_NE(lab.variant(variant).find("PALLADION_KERNELS"), std::string::npos);
  }
  EXPECT_NE(lab.variant("starter"), lab.variant("solution"));
  EXPECT_NE(lab.text.find("**Your task**"), std::string_view::npos);
  EXPECT_NE(lab.text.find("**How it is checked**"), std::string_view::npos);
  EXPECT_GE(lab.replies.size(), 3U) << "the starter's and two wrong answers'";
  for (const labs::Question& question : lab.questions)
    EXPECT_NE(lab.variant("starter").find(fmt::format("// answer {}: ?", question.name)), std::string::npos);
}

std::vector<const Lab*> every_lab() {
  std::vector<const Lab*> labs;
  for (const Lab& lab : labs::all_labs()) labs.push_back(&lab);
  return labs;
}
std::string name_of(const testing::TestParamInfo<const Lab*>& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Labs, EachLab, testing::ValuesIn(every_lab()), name_of);

}  // namespace
}  // namespace palladion
