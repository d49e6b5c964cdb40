#include "verify/codegen/codegen.h"

#include "cuda/toolkit/ptxas.h"
#include "isa/host/cache.h"
#include "sim/program/compile/compile.h"
#include "verify/codegen/codegen_findings.h"
#include "verify/launch/runner.h"

namespace palladion::verify {

using namespace host;

namespace {

std::unique_ptr<sim::Program> program_of(const Job& job, const isa::Function& entry,
                                         const isa::ArchSpec& arch) {
  return sim::compile(*job.module, entry, arch, std::vector<uint64_t>(job.module->symbols.size()));
}

}  // namespace

Outcome<std::vector<sim::Finding>> examine_codegen(const Job& job, const isa::ArchSpec& arch, Codegen who) {
  const isa::Function* const entry = job.module->find_entry(job.entry);
  if (who == Codegen::none || entry == nullptr) return std::vector<sim::Finding>();
  if (who == Codegen::predicted || (who == Codegen::automatic && !cuda::toolkit::find_tool("ptxas")))
    return predicted_findings(*program_of(job, *entry, arch));
  const std::string ptx = ptx_of(job);
  const auto said = cuda::toolkit::ask_ptxas(ptx, entry->name, arch.ptx_target);
  if (!said && who == Codegen::ptxas) return tl::make_unexpected(said.error());
  if (!said) return predicted_findings(*program_of(job, *entry, arch));
  const bool is_slow =
      said->use.spill_store_bytes + said->use.spill_load_bytes != 0 || !said->remarks.empty();
  if (!is_slow) return std::vector<sim::Finding>();
  return findings_of(*said, *program_of(job, *entry, arch), {.text = ptx, .is_file = !job.ptx.empty()});
}

std::string codegen_identity(Codegen who) {
  if (who == Codegen::none) return {};
  if (who == Codegen::predicted) return "predicted";
  const auto ptxas = cuda::toolkit::find_tool("ptxas");
  return ptxas ? identity_of(*ptxas) : "predicted";
}

}  // namespace palladion::verify
