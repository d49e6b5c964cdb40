// The machine's estimate of a kernel's registers, which limits the CTAs of an SM, against ptxas' own count.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cuda/native/jit_log.h"
#include "isa/arch/arch.h"
#include "kernels/frame/registry.h"
#include "kernels/zoo/zoo.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/pressure.h"
#include "tests/support/toolkit.h"
#include "verify/launch/runner.h"

namespace palladion::kernels {
namespace {

struct Counted {
  std::string name;
  int estimated = 0, barriers = 0, threads = 0;
  int ctas_estimated = 0, ctas = 0;  // that an SM has registers for
  cuda::native::ResourceUse ptxas;
};

int ctas_of(int threads, int registers) {
  return isa::occupancy(*isa::find_arch("h200"),
                        {.threads = threads, .registers_per_thread = registers, .shared_bytes = 0})
      .ctas_per_sm;
}

Counted count(const std::string& name, const isa::Module& module, const std::string& entry,
              const std::string& text, const isa::Dim3& block) {
  const toolkit::Assembly assembly = toolkit::assemble(text, module.target);
  EXPECT_TRUE(assembly.ok) << name << "\n" << assembly.log;
  const isa::Function& f = *module.find_entry(entry);
  const isa::ArchSpec& arch = *isa::chip_for(module.target);
  const auto program = sim::compile(module, f, arch, std::vector<uint64_t>(module.symbols.size()));
  Counted c{.name = name, .threads = int(block.count())};
  c.estimated = int(sim::sass::estimated_registers(*program));
  c.barriers = int(sim::sass::named_barriers(*program));
  const auto all = cuda::native::parse_resource_use(assembly.log);
  c.ptxas = all.at(f.name);
  c.ctas_estimated = ctas_of(c.threads, c.estimated);
  c.ctas = ctas_of(c.threads, c.ptxas.registers);
  return c;
}

std::vector<Counted> kernels_by_name() {
  std::vector<Counted> out;
  for (const KernelSpec& spec : all_kernels()) {
    const plgpu::Kernel kernel = spec.build(choose(spec, {}, {}));
    const Job job = job_of(kernel, blank_inputs(kernel));
    out.push_back(count(spec.name, *job.module, job.entry, ptx_of(job), job.block));
  }
  return out;
}

std::vector<Counted> good_twins() {
  std::vector<Counted> out;
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    const kernels::zoo::Specimen s = pair.make(false);
    out.push_back(count("zoo/" + pair.name, *s.job.module, s.job.entry, ptx_of(s.job), s.job.block));
  }
  return out;
}

// Registers that an SM gives a thread: whole units of 8.
int given(const Counted& c) { return (c.ptxas.registers + 7) / 8 * 8; }

// Estimated at the limit of 255 where ptxas 13.0 needs 142: what its masked loads and stores have in
// registers at once is not known to be less. (A kernel with a better estimate is no longer one of these.)
bool is_known_too_high(const Counted& c) {
  return c.name == "paged_attention" && c.estimated == 255 && c.ptxas.registers < 160;
}

// ptxas 13.0 needs at most two units more than the estimate, and at most four fewer: it moves loads, and
// makes values where they are used.
void compare(const std::vector<Counted>& all) {
  int same_ctas = 0, judged = 0;
  for (const Counted& c : all) {
    if (is_known_too_high(c)) continue;
    ++judged;
    SCOPED_TRACE(fmt::format("{}: estimated {}, ptxas {}", c.name, c.estimated, c.ptxas.registers));
    EXPECT_LE(given(c), c.estimated + 16);
    EXPECT_GE(given(c), c.estimated - 32);
    EXPECT_EQ(c.ptxas.spill_store_bytes + c.ptxas.spill_load_bytes, 0);
    EXPECT_GE(c.barriers, c.ptxas.barriers);  // more where a register names one whose value ptxas knows
    same_ctas += c.ctas_estimated == c.ctas ? 1 : 0;
  }
  EXPECT_GE(same_ctas, 0.84 * judged) << "an SM holds as many CTAs";
}

TEST(Registers, OfOurKernelsAreEstimatedAsPtxasCounts) {
  PLD_NEEDS_TOOL("ptxas");
  compare(kernels_by_name());
}

TEST(Registers, OfTheZooAreEstimatedAsPtxasCounts) {
  PLD_NEEDS_TOOL("ptxas");
  compare(good_twins());
}

}  // namespace
}  // namespace palladion::kernels
