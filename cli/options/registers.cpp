#include "cli/options/registers.h"

#include <fmt/format.h>

#include "cuda/toolkit/ptxas.h"
#include "verify/arrays/words.h"
#include "verify/launch/runner.h"

namespace palladion::cli {

Outcome<Registers> registers_named(const std::string& word, const isa::ArchSpec& arch) {
  if (word.empty() || word == "estimate") return Registers{};
  if (word == "ptxas")
    return cuda::toolkit::need_ptxas().map([] { return Registers{.from = Registers::From::ptxas}; });
  const auto count = number_in<uint32_t>(word);
  if (!count || *count == 0 || *count > static_cast<uint32_t>(arch.max_registers_per_thread))
    return user_error(fmt::format("--registers is estimate, ptxas or a number from 1 to {}, not `{}`",
                                  arch.max_registers_per_thread, word));
  return Registers{.from = Registers::From::given, .count = *count};
}

Outcome<Registers> registers_of(const Registers& wanted, const isa::ArchSpec& arch, const Job& job) {
  if (wanted.from != Registers::From::ptxas) return wanted;
  const isa::Function* const entry = job.module->find_entry(job.entry);
  if (entry == nullptr) return Registers{};  // the machine reports the error
  const auto said = cuda::toolkit::ask_ptxas(ptx_of(job), entry->name, arch.ptx_target);
  if (!said) return tl::make_unexpected(said.error());
  return Registers{.from = Registers::From::ptxas,
                   .count = static_cast<uint32_t>(said->use.registers),
                   .ptxas = said->use};
}

}  // namespace palladion::cli
