#include "sim/program/compile/compile.h"

#include <algorithm>

#include "sim/program/compile/call_graph.h"
#include "sim/program/compile/decoder.h"
#include "sim/program/compile/injected_waits.h"
#include "sim/program/compile/layout.h"
#include "sim/program/compile/wgmma_copies.h"
#include "sim/program/contraction/contract.h"
#include "sim/program/early_waits.h"
#include "sim/program/stack_charge.h"

namespace palladion::sim {
namespace {

// An estimate of what ptxas takes.
uint32_t launch_registers(const isa::Function& f, const isa::ArchSpec& arch) {
  const auto most = static_cast<uint64_t>(arch.max_registers_per_thread);
  if (f.maxnreg && *f.maxnreg <= most) return *f.maxnreg;  // ptxas ignores a larger one
  const auto threads = f.reqntid ? f.reqntid->count() : f.maxntid ? f.maxntid->count() : 0;
  if (threads == 0) return static_cast<uint32_t>(most);
  const auto unit = static_cast<uint64_t>(arch.register_unit_per_thread);
  const uint64_t share = static_cast<uint64_t>(arch.registers_per_sm) /
                         (threads * std::max<uint64_t>(f.minnctapersm.value_or(1), 1)) / unit * unit;
  return static_cast<uint32_t>(std::min(share, most));
}

// By setmaxnreg.inc; 0: there is none. ptxas starts no warp with more registers.
uint32_t largest_grant(const Program& p) {
  uint32_t granted = 0;
  for (const MicroOp& op : p.code) {
    const auto* set = std::get_if<isa::SetMaxRegisters>(op.effect);
    if (set && set->increase) granted = std::max(granted, static_cast<uint32_t>(set->count));
  }
  return granted;
}

}  // namespace

std::unique_ptr<Program> compile(const isa::Module& module, const isa::Function& entry,
                                 const isa::ArchSpec& arch, const std::vector<uint64_t>& global_addresses,
                                 bool fmad) {
  auto program = std::make_unique<Program>();
  Program& p = *program;
  p.module = &module;
  p.entry = &entry;
  p.arch = &arch;
  uint32_t index = 0;
  while (&module.functions[index] != &entry) ++index;
  const CallGraph graph = call_graph(module, index);
  p.allocates = graph.allocates;
  Layout layout(p, graph, global_addresses);
  p.start = p.function_start[index];
  Decoder decoder(p, layout);
  for (const uint32_t f : graph.functions) decoder.decode(f);
  layout.finish();
  charge_stack(p);
  p.launch_registers = launch_registers(entry, arch);
  if (const uint32_t granted = largest_grant(p)) p.launch_registers = std::min(p.launch_registers, granted);
  place_wgmma_copies(p);
  place_injected_waits(p);
  contract(p, fmad);
  p.early_waits = find_early_waits(p);
  return program;
}

}  // namespace palladion::sim
