// Every instruction of the PTX manual has forms that the machine runs, or is refused by its name. The table
// of the handbook is tests/golden/isa/coverage.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "isa/arch/arch.h"
#include "isa/core/manual.h"
#include "isa/text/parse.h"
#include "tests/isa/forms.h"
#include "tests/support/golden.h"

namespace palladion::isa {
namespace {

// The targets of the instance that a chip here runs; what a plain target has, Blackwell may run alone.
std::vector<std::string> targets_that_run(const forms::Instance& i) {
  std::vector<std::string> targets = forms::targets_of(i);
  if (targets == std::vector<std::string>{"sm_90a"} && !i.form->target.ends_with('a'))
    targets.push_back("sm_100a");
  std::erase_if(targets, [](const std::string& t) { return t != "sm_75" && chip_for(t) == nullptr; });
  return targets;
}

// How many instances of forms run, and how many do not, by the reason.
struct Counts {
  size_t forms = 0, run = 0;
  std::map<std::string, size_t> refused;
};

// "`vadd.u32.u32.u32`: not modelled" -> "not modelled"
std::string why(std::string_view reason) {
  const size_t end = reason.find("`: ");
  return std::string(end == std::string_view::npos ? reason : reason.substr(end + 3));
}

// Why the machine refuses the instruction for the target; empty: it runs.
std::string refusal(const std::string& line, const std::string& target) {
  const auto module = parse(forms::module_text({line}, target, forms::version_for(target)));
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return {};
  }
  const Function& kernel = *module->find_entry("k");
  const ArchSpec* const chip = chip_for(target);
  const Effect e = effect(kernel.body.front(), {*module, kernel, chip == nullptr ? default_arch() : *chip});
  const auto* const u = std::get_if<Unsupported>(&e);
  return u == nullptr ? std::string() : why(u->reason);
}

Counts count(const std::vector<const Form*>& stated) {
  Counts counts{.forms = stated.size(), .run = 0, .refused = {}};
  for (const Form* form : stated)
    for (const forms::Instance& i : forms::instances_of(*form)) {
      std::string reason = "of chips that are not modelled";
      for (const std::string& target : targets_that_run(i))
        if (reason = refusal(i.text, target); reason.empty()) break;
      reason.empty() ? ++counts.run : ++counts.refused[reason];
    }
  return counts;
}

std::string row(std::string_view name, std::string_view section,
                std::map<std::string_view, std::string_view>& seen) {
  const auto [first, fresh] = seen.try_emplace(name, section);
  if (!fresh) return fmt::format("| `{}` | | | | see {} |\n", name, first->second);
  const Counts c = count(forms_of(name));
  if (c.forms == 0) return fmt::format("| `{}` | 0 | 0 | | not modelled, refused by name |\n", name);
  std::string reasons;
  size_t refused = 0;
  for (const auto& [reason, n] : c.refused) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", n, reason);
    refused += n;
  }
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", name, c.forms, c.run,
                     refused == 0 ? std::string() : std::to_string(refused), reasons);
}

TEST(coverage, of_the_manual_is_the_table_of_the_handbook) {
  std::string page =
      "# Coverage of PTX\n\nThe instructions that the manual of PTX 9.1 names, section by section. A *form* "
      "is a line of "
      "the syntax in `isa/ops`. Of each form, instances are made: every word of every modifier once, every "
      "optional operand "
      "once left out. They run, or the machine answers `unsupported` with the reason. "
      "`tests/isa/coverage_test.cpp` "
      "makes this page.\n";
  std::map<std::string_view, std::string_view> seen;
  for (const ManualSection& s : manual()) {
    page += fmt::format(
        "\n## {}\n\n| instruction | forms | instances that run | refused | why |\n|---|---|---|---|---|\n",
        s.title);
    for (const std::string_view name : s.instructions) page += row(name, s.title, seen);
  }
  EXPECT_TRUE(golden::compare("isa/coverage.md", page));
}

TEST(coverage, what_has_no_form_is_refused_by_its_name) {
  std::set<std::string_view> without;
  for (const ManualSection& s : manual())
    for (const std::string_view name : s.instructions)
      if (forms_of(name).empty()) without.insert(name);
  EXPECT_EQ(without, (std::set<std::string_view>{"multimem.cp.async.bulk", "multimem.cp.reduce.async.bulk"}));
  for (const std::string_view name : without) {
    const auto module = parse(forms::module_text({fmt::format("{}.global [%rd1], [%rd2], %r1;", name)}));
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().front().code, "PLD1010");
    EXPECT_NE(module.error().front().message.find(fmt::format("`{}`", name)), std::string::npos)
        << module.error().front().message;
  }
}

TEST(coverage, every_form_belongs_to_an_instruction_of_the_manual) {
  std::set<const Form*> in_manual;
  for (const ManualSection& s : manual())
    for (const std::string_view name : s.instructions)
      for (const Form* form : forms_of(name)) in_manual.insert(form);
  for (const Op& op : all_ops())
    for (const Form& form : op.forms) EXPECT_TRUE(in_manual.contains(&form)) << form.text;
}

}  // namespace
}  // namespace palladion::isa
