#include "cli/options/registers.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/options/ptxas.h"
#include "verify/launch/runner.h"

namespace palladion::cli {

std::string_view name(Registers::From from) {
  return from == Registers::From::estimate ? "estimate" : from == Registers::From::ptxas ? "ptxas" : "given";
}

namespace {

// "estimate" or nothing, "ptxas", or a number.
Outcome<Registers> registers_named(const Options& o, const isa::ArchSpec& arch) {
  if (o.registers.empty() || o.registers == "estimate") return Registers{};
  if (o.registers == "ptxas") return Registers{.from = Registers::From::ptxas};
  uint32_t count = 0;
  const char* const last = o.registers.data() + o.registers.size();
  const auto [end, error] = std::from_chars(o.registers.data(), last, count);
  if (error != std::errc{} || end != last || count == 0 ||
      count > static_cast<uint32_t>(arch.max_registers_per_thread))
    return user_error(fmt::format("--registers is estimate, ptxas or a number from 1 to {}, not `{}`",
                                  arch.max_registers_per_thread, o.registers));
  return Registers{.from = Registers::From::given, .count = count};
}

}  // namespace

Outcome<void> check_registers(const Options& o) {
  const isa::ArchSpec* const arch = isa::find_arch(o.arch);
  if (arch == nullptr) return {};  // find_architecture reports the error
  const auto registers = registers_named(o, *arch);
  if (!registers) return tl::make_unexpected(registers.error());
  return registers->from == Registers::From::ptxas ? need_ptxas() : Outcome<void>{};
}

Outcome<Registers> registers_of(const Options& o, const isa::ArchSpec& arch, const Job& job) {
  auto registers = registers_named(o, arch);
  if (!registers || registers->from != Registers::From::ptxas) return registers;
  const isa::Function* const entry = job.module->find_entry(job.entry);
  if (entry == nullptr) return Registers{};  // the machine reports the error
  const auto use = ask_ptxas(ptx_of(job), entry->name, arch.ptx_target);
  if (!use) return tl::make_unexpected(use.error());
  registers->ptxas = *use;
  registers->count = static_cast<uint32_t>(use->registers);
  return registers;
}

}  // namespace palladion::cli
