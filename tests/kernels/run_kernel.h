#pragma once
// Runs a registered kernel in the machine under every schedule and judges it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "isa/text/print.h"
#include "kernels/frame/registry.h"
#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/machine.h"
#include "tests/support/names.h"
#include "tests/support/toolkit.h"
#include "verify/arrays/codes.h"
#include "verify/check.h"
#include "verify/launch/job.h"
#include "verify/launch/runner.h"

namespace palladion::kernels::test {

struct Case {
  std::string kernel;
  std::map<std::string, std::string> sizes, settings;
};

inline std::string name_of(const Case& c) {
  std::string out = c.kernel;
  for (const auto* words : {&c.sizes, &c.settings})
    for (const auto& [name, value] : *words) out += "_" + name + "_" + value;
  return out;
}
inline std::string name_of_param(const testing::TestParamInfo<Case>& c) {
  return palladion::test::test_name(name_of(c.param));
}
inline void PrintTo(const Case& c, std::ostream* os) { *os << name_of(c); }

inline std::string text_of(const sim::RunResult& result) {
  std::string out;
  if (!result.errors.empty()) out = isa::render(result.errors) + "\n";
  for (const auto& f : result.findings) out += report::finding_text(f) + "\n";
  if (!result.completed) out += "not completed\n";
  return out;
}

inline Array array_of(pl::ShapeDtype type, const std::vector<double>& values) {
  return from_doubles(std::move(type), values);
}

// On the kernel's own chip, with the checkers, which find nothing.
inline SimOutcome run_clean(const plgpu::Kernel& kernel, const std::vector<Array>& in,
                            const char* schedule = "functional") {
  sim::Machine machine(*isa::chip_for(kernel.module.target));
  sim::check::Checker checker;
  sim::RunOptions options;
  options.observer = &checker;
  options.schedule = *sim::schedule_named(schedule);
  SimOutcome out = run(kernel, in, machine, options);
  EXPECT_TRUE(out.result.clean()) << text_of(out.result);
  return out;
}

inline void expect_assembles(const plgpu::Kernel& kernel) {
  PLD_NEEDS_TOOL("ptxas");
  const toolkit::Assembly assembly = toolkit::assemble(isa::print(kernel.module), kernel.module.target);
  EXPECT_TRUE(assembly.ok) << assembly.log;
}

// Under functional, latest, earliest and two seeds: clean, the same bits, and what the reference says.
inline void run_everywhere(const Case& c) {
  const KernelSpec* spec = find_kernel(c.kernel);
  ASSERT_NE(spec, nullptr) << c.kernel;
  const Choice choice = choose(*spec, c.sizes, c.settings);
  const plgpu::Kernel kernel = spec->build(choice);
  const std::vector<Array> inputs = spec->make_inputs(choice, 3);
  const std::vector<Array> wanted = spec->reference(choice, inputs);
  const Tolerance tolerance = spec->tolerance ? spec->tolerance(choice) : Tolerance{};
  std::vector<Array> first;
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:1", "seeded:2"}) {
    SCOPED_TRACE(schedule);
    sim::Machine machine(*choice.arch);
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(schedule);
    options.threads = 1;
    SimOutcome outcome = run(kernel, inputs, machine, options);
    ASSERT_TRUE(outcome.result.clean()) << text_of(outcome.result);
    ASSERT_EQ(outcome.outputs.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Comparison near = compare(outcome.outputs[i], wanted[i], tolerance);
      ASSERT_TRUE(near.comparable);
      EXPECT_TRUE(near.ok()) << near.outside << " of " << near.elements << " elements are wrong; the first: "
                             << testing::PrintToString(near.first->index) << " is " << near.first->got
                             << ", not " << near.first->wanted;
      if (first.empty()) continue;
      EXPECT_TRUE(compare(outcome.outputs[i], first[i]).bits_equal) << "other bits than under `functional`";
    }
    if (first.empty()) first = std::move(outcome.outputs);
  }
}

// One run shows that every schedule has the same results, and none a finding.
inline void expect_decided(const Case& c) {
  const KernelSpec* spec = find_kernel(c.kernel);
  ASSERT_NE(spec, nullptr) << c.kernel;
  const Choice choice = choose(*spec, c.sizes, c.settings);
  const auto report =
      verify::check(job_of(spec->build(choice), spec->make_inputs(choice, 3)), *choice.arch, {});
  ASSERT_TRUE(report) << isa::render(report.error());
  EXPECT_TRUE(report->decided) << testing::PrintToString(report->incomplete);
  EXPECT_EQ(report->verdict.word, verify::Verdict::Word::clean) << report->verdict.reason;
}

// The rule that recording a kernel breaks.
inline std::string broken_rule(const std::function<plgpu::Kernel()>& record) {
  try {
    record();
  } catch (const isa::Error& error) {
    const isa::Diagnostic& d = error.diagnostics().front();
    return d.code == LaunchCode::broken_rule ? d.message : "another error: " + d.message;
  }
  return "no Error";
}

// For the kernel's own chip, or the one of that name.
inline void assemble_without_spills(const Case& c, const char* arch = "") {
  PLD_NEEDS_TOOL("ptxas");
  const KernelSpec* spec = find_kernel(c.kernel);
  ASSERT_NE(spec, nullptr) << c.kernel;
  const isa::Module module = spec->build(choose(*spec, c.sizes, c.settings, isa::find_arch(arch))).module;
  const toolkit::Assembly assembly = toolkit::assemble(isa::print(module), module.target);
  EXPECT_TRUE(assembly.ok) << assembly.log;
  EXPECT_EQ(assembly.spill_bytes, 0) << assembly.log;
  EXPECT_FALSE(assembly.wgmma_serialized) << assembly.log;
}

}  // namespace palladion::kernels::test
