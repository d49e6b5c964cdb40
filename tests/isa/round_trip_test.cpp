// print() and parse() undo each other: on what nvcc makes of our kernels, and on every form of every op.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "isa/arch/target.h"
#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "tests/isa/forms.h"
#include "tests/isa/ptxas.h"
#include "tests/isa/same.h"

namespace palladion::isa {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(PLD_SOURCE_DIR) / "tests" / "isa";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_of(const fs::path& where, std::string_view extension) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(where))
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_round_trip(const std::string& text, const std::string& name) {
  const auto first = parse(text);
  ASSERT_TRUE(first) << name << "\n" << render(first.error(), text);
  const std::string printed = print(*first);
  const auto second = parse(printed);
  ASSERT_TRUE(second) << name << "\n" << render(second.error(), printed);
  EXPECT_EQ(difference(*first, *second), "") << name;
  EXPECT_EQ(print(*second), printed) << name;
}

TEST(round_trip, what_nvcc_prints_reads_back_as_the_same_module) {
  const auto files = files_of(folder / "ptx", ".ptx");
  ASSERT_GE(files.size(), 10u);
  for (const auto& file : files) expect_round_trip(read(file), file.filename());
}

TEST(round_trip, nothing_that_nvcc_prints_is_refused_by_the_verifier) {
  for (const auto& file : files_of(folder / "ptx", ".ptx")) {
    const std::string text = read(file);
    const auto module = parse(text);
    ASSERT_TRUE(module) << render(module.error(), text);
    EXPECT_TRUE(verify(*module).empty()) << file << "\n" << render(verify(*module), text);
  }
}

TEST(round_trip, ptxas_accepts_what_we_print_of_nvcc_code) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  for (const auto& file : files_of(folder / "ptx", ".ptx")) {
    const auto module = parse(read(file));
    ASSERT_TRUE(module);
    const auto out = toolkit::assemble(ptxas, print(*module), "sm_90a", file.stem());
    EXPECT_EQ(out.status, 0) << file << "\n" << out.text;
  }
}

TEST(round_trip, nvcc_of_today_is_read) {
  const std::string nvcc = toolkit::find("nvcc");
  PLD_NEED_TOOL(nvcc);
  for (const auto& file : files_of(folder / "cuda", ".cu")) {
    const auto ptx = toolkit::scratch(file.stem().string() + ".ptx");
    // The largest ones take seconds to compile and are among the fixtures.
    if (file.stem() != "reduction" && file.stem() != "hopper_tile" && file.stem() != "functions") continue;
    const auto out =
        toolkit::run(nvcc + " -ptx -arch=sm_90a -lineinfo " + file.string() + " -o " + ptx.string());
    ASSERT_EQ(out.status, 0) << out.text;
    expect_round_trip(read(ptx), file.filename());
  }
}

// --- every form ----------------------------------------------------------------------------------

using forms::blackwell;

// ptxas has no 32-bit addressing for Hopper.
bool is_for_32_bit_addresses(const forms::Instance& i) {
  return i.form->op == "cvta" && i.text.find(".u32") != std::string::npos;
}

// As far as PTX of that version has them.
std::map<std::string, std::vector<std::string>> all_forms(uint32_t version = 91) {
  std::map<std::string, std::vector<std::string>> by_target;
  for (const Op& op : all_ops()) {
    for (const Form& form : op.forms) {
      if (form.ptx_version > version) continue;
      for (const auto& i : forms::instances_of(form)) {
        if (is_for_32_bit_addresses(i)) continue;
        for (const std::string& target : forms::targets_of(i)) by_target[target].push_back(i.text);
      }
    }
  }
  return by_target;
}

TEST(forms, every_form_reads_back_as_the_same_instruction) {
  for (const auto& [target, lines] : all_forms())
    expect_round_trip(forms::module_text(lines, target, forms::version_for(target)), target);
}

TEST(forms, a_line_keeps_its_words_through_parser_and_printer) {
  for (const auto& [target, lines] : all_forms()) {
    const auto module = parse(forms::module_text(lines, target, forms::version_for(target)));
    ASSERT_TRUE(module);
    const Function& kernel = *module->find_entry("k");
    ASSERT_EQ(kernel.body.size(), lines.size() + 1);
    for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(print(*module, kernel, kernel.body[i]), lines[i]);
  }
}

TEST(forms, the_verifier_agrees_with_every_form_for_hopper) {
  const auto lines = all_forms()["sm_90a"];
  const std::string text = forms::module_text(lines);
  const auto module = parse(text);
  ASSERT_TRUE(module) << render(module.error(), text);
  EXPECT_TRUE(verify(*module).empty()) << render(verify(*module), text);
}

// The newest PTX that this ptxas and our forms have.
uint32_t newest_of(const std::string& ptxas) { return std::min(toolkit::newest_ptx(ptxas), 91U); }
std::string text_of(uint32_t version) { return fmt::format("{}.{}", version / 10, version % 10); }

void expect_assembles(const std::string& ptxas, const std::string& text, const std::string& target,
                      const std::string& name = {}) {
  const auto module = parse(text);
  ASSERT_TRUE(module) << render(module.error(), text);
  const auto out = toolkit::assemble(ptxas, print(*module), target, target + name);
  EXPECT_EQ(out.status, 0) << out.text.substr(0, 4000);
}

// All in one body behind a branch: what is dead is checked word by word and costs no registers. ptxas 13.0
// crashes on dead wgmma (which have a test of their own) and on .param::func loads that no call precedes.
TEST(forms, ptxas_assembles_every_form_for_hopper) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  const uint32_t newest = newest_of(ptxas);
  for (const std::string target : {"sm_90a", "sm_75"}) {
    std::vector<std::string> lines = {"bra.uni done;"};
    const auto all = all_forms(newest);
    for (const std::string& line : all.at(target))
      if (!line.starts_with("wgmma") && !line.starts_with("ld.param::func")) lines.push_back(line);
    EXPECT_GT(lines.size(), target == "sm_90a" ? 4000u : 10u);
    const std::string version = target == "sm_75" ? forms::version_for(target) : text_of(newest);
    expect_assembles(ptxas, forms::module_text(lines, target, version), target);
  }
}

TEST(forms, ptxas_assembles_every_form_for_blackwell) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  const uint32_t newest = newest_of(ptxas);
  const auto all = all_forms(newest);
  for (const std::string_view target : blackwell) {
    EXPECT_GT(all.at(std::string(target)).size(), target == "sm_120a" ? 100u : 500u) << target;
    for (const bool pairs : {false, true}) {  // a function is for single CTAs or for pairs
      std::vector<std::string> lines = {"bra.uni done;"};
      for (const std::string& line : all.at(std::string(target)))
        if (!line.starts_with("tcgen05.ld.red") && (line.find("cta_group::2") != std::string::npos) == pairs)
          lines.push_back(line);
      expect_assembles(ptxas, forms::module_text(lines, std::string(target), text_of(newest)),
                       std::string(target), pairs ? "_pairs" : "");
    }
  }
}

// The lines that ptxas names in its errors, counted from 1.
std::set<size_t> refused_lines(const std::string& log) {
  std::set<size_t> lines;
  static constexpr std::string_view before = ", line ";
  for (size_t at = log.find(before); at != std::string::npos; at = log.find(before, at + 1)) {
    const char* const number = log.c_str() + at + before.size();
    char* end = nullptr;
    const size_t line = std::strtoul(number, &end, 10);
    if (std::string_view(end).starts_with("; error")) lines.insert(line);
  }
  return lines;
}

// What a form says that it needs is what ptxas grants: chips, families, plain targets.
TEST(forms, ptxas_and_the_verifier_agree_which_target_has_a_form) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  std::vector<forms::Instance> instances;
  for (const Op& op : all_ops()) {
    if (op.name == "tcgen05" || op.name == "clusterlaunchcontrol") continue;  // stated for chips with a clock
    for (const Form& form : op.forms)
      if (forms::is_later_than_hopper(form) || form.target.find('|') != std::string_view::npos)
        for (const auto& i : forms::instances_of(form)) instances.push_back(i);
  }
  std::vector<std::string> lines;
  for (const auto& i : instances) lines.push_back(i.text);
  for (const std::string target :
       {"sm_90a", "sm_100", "sm_100f", "sm_103", "sm_103f", "sm_110f", "sm_120f"}) {
    const std::string text = forms::module_text(lines, target, text_of(newest_of(ptxas)));
    const std::string before = text.substr(0, text.find(lines.front()));
    const auto first = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
    const auto refused = refused_lines(toolkit::assemble(ptxas, text, target, target).text);
    for (size_t k = 0; k < lines.size(); ++k)
      EXPECT_EQ(!refused.contains(first + k), provides(target, instances[k].form->target))
          << target << ": " << lines[k];
  }
}

// ptxas 13.0 refuses two of them with different counts in one dead body.
TEST(forms, ptxas_assembles_every_reducing_load_of_tensor_memory) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  const auto all = all_forms();
  std::vector<std::string> lines;
  for (const std::string& line : all.at("sm_103a"))
    if (line.starts_with("tcgen05.ld.red")) lines.push_back(line);
  EXPECT_GT(lines.size(), 20u);
  expect_assembles(ptxas, forms::one_kernel_each(lines, "sm_103a"), "sm_103a", "_reducing");
}

// Each wgmma in a kernel of its own, for the registers; of the 32 widths those at both ends and two between.
TEST(forms, ptxas_assembles_every_wgmma) {
  const std::string ptxas = toolkit::find("ptxas");
  PLD_NEED_TOOL(ptxas);
  std::vector<std::string> lines;
  const auto all = all_forms();
  for (const std::string& line : all.at("sm_90a")) {
    if (!line.starts_with("wgmma")) continue;
    const size_t n = line.find(".m64n");
    const std::string width = n == std::string::npos ? "" : line.substr(n + 5, line.find('k', n) - n - 5);
    if (width.empty() || width == "8" || width == "24" || width == "64" || width == "256")
      lines.push_back(line);
  }
  EXPECT_GT(lines.size(), 50u);
  expect_assembles(ptxas, forms::one_kernel_each(lines), "sm_90a");
}

}  // namespace
}  // namespace palladion::isa
