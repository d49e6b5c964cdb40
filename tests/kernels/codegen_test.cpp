// No kernel of ours spills registers or has its wgmmas serialised: neither by prediction nor by ptxas.
#include <gtest/gtest.h>

#include "kernels/frame/registry.h"
#include "report/text/finding_text.h"
#include "tests/support/toolkit.h"
#include "verify/codegen/codegen.h"
#include "verify/launch/runner.h"

namespace palladion::kernels {
namespace {

std::string findings_of(const KernelSpec& spec, verify::Codegen who) {
  const isa::ArchSpec& arch = *isa::find_arch(spec.chip.empty() ? "h200" : spec.chip);
  const plgpu::Kernel kernel = spec.build(choose(spec, {}, {}, &arch));
  const auto found = verify::examine_codegen(job_of(kernel, blank_inputs(kernel)), arch, who);
  if (!found) return found.error().text;
  std::string text;
  for (const sim::Finding& f : *found) text += report::finding_text(f);
  return text;
}

TEST(CodegenOfKernels, NothingIsPredicted) {
  for (const KernelSpec& spec : all_kernels())
    EXPECT_EQ(findings_of(spec, verify::Codegen::predicted), "") << spec.name;
}

TEST(CodegenOfKernels, PtxasSaysNothing) {
  PLD_NEEDS_TOOL("ptxas");
  for (const KernelSpec& spec : all_kernels())
    EXPECT_EQ(findings_of(spec, verify::Codegen::ptxas), "") << spec.name;
}

}  // namespace
}  // namespace palladion::kernels
