#include "sim/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "sim/launch/fault.h"
#include "sim/machine/exec/bind.h"
#include "sim/program/compile/compile.h"
#include "sim/program/compile/drop_values.h"
#include "sim/run_parts.h"
#include "sim/sass/lowered.h"
#include "sim/sass/pressure.h"

namespace palladion::sim {
namespace {

void refuse(RunResult& r, Code code, std::string message) {
  r.errors.push_back(refusal(code, std::move(message)));
}

bool divides(const isa::Dim3& part, const isa::Dim3& whole) {
  return part.x != 0 && part.y != 0 && part.z != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 &&
         whole.z % part.z == 0;
}

// Each CTA of a cluster has an SM of its own, all of one GPC.
void check_cluster(const isa::ArchSpec& arch, uint64_t ctas, RunResult& r) {
  const int largest_gpc = *std::ranges::max_element(arch.gpc_tpcs) * arch.sms_per_tpc;
  if (ctas > static_cast<uint64_t>(arch.max_cluster))
    refuse(r, Code::cluster_too_large,
           fmt::format("a cluster of {} CTAs: at most {}", ctas, arch.max_cluster));
  else if (ctas > static_cast<uint64_t>(largest_gpc))
    refuse(r, Code::cluster_too_large,
           fmt::format("a cluster of {} CTAs: a GPC of {} has {} SMs", ctas, arch.name, largest_gpc));
}

void check_shape(const isa::ArchSpec& arch, const Launch& l, const isa::Function& entry, RunResult& r) {
  const auto threads = l.block.count();
  if (threads == 0 || threads > static_cast<uint64_t>(arch.max_threads_per_cta))
    refuse(r, Code::too_many_threads,
           fmt::format("a block of {} threads: must be 1 to {}", threads, arch.max_threads_per_cta));
  if (l.grid.count() == 0) refuse(r, Code::empty_grid, "the grid is empty");
  if (!divides(l.cluster, l.grid))
    refuse(r, Code::grid_of_no_clusters,
           fmt::format("a grid of {}x{}x{} is not a multiple of the cluster {}x{}x{}", l.grid.x, l.grid.y,
                       l.grid.z, l.cluster.x, l.cluster.y, l.cluster.z));
  check_cluster(arch, l.cluster.count(), r);
  if (entry.reqntid && !(*entry.reqntid == l.block))
    refuse(
        r, Code::reqntid_differs,
        fmt::format("the kernel requires a block of {}x{}x{} (.reqntid), the launch says {}x{}x{}",
                    entry.reqntid->x, entry.reqntid->y, entry.reqntid->z, l.block.x, l.block.y, l.block.z));
  if (entry.maxntid && entry.maxntid->count() < threads)
    refuse(r, Code::maxntid_exceeded,
           fmt::format("the kernel allows {} threads a block (.maxntid), the launch says {}",
                       entry.maxntid->count(), threads));
  if (entry.reqnctapercluster && entry.reqnctapercluster->count() > 1 &&
      !(*entry.reqnctapercluster == l.cluster))
    refuse(r, Code::reqnctapercluster_differs,
           "the launch's cluster differs from the kernel's .reqnctapercluster");
}

void check_resources(const isa::ArchSpec& arch, const Launch& l, const Program& program, uint32_t registers,
                     RunResult& r) {
  const uint64_t shared = uint64_t{program.static_shared} - program.reserved_shared + l.dynamic_shared;
  if (shared > static_cast<uint64_t>(arch.max_shared_bytes_per_cta)) {
    refuse(r, Code::too_much_shared,
           fmt::format("{} bytes of shared memory a CTA: {} has {}", shared, arch.name,
                       arch.max_shared_bytes_per_cta));
    return;
  }
  isa::CtaResources need;
  need.threads = static_cast<int>(l.block.count());
  need.registers_per_thread = static_cast<int>(registers);
  need.shared_bytes = static_cast<int64_t>(shared);
  need.barriers = static_cast<int>(sass::named_barriers(program));
  const isa::Occupancy o = isa::occupancy(arch, need);
  if (o.ctas_per_sm == 0)
    refuse(r, Code::cta_fits_no_sm, fmt::format("not even one CTA fits an SM: {}", o.reason));
  r.resident_ctas_per_sm = static_cast<uint32_t>(o.ctas_per_sm);
  r.registers_per_thread = registers;
}

// `lowered`: null without a clock; then the CTAs of an SM affect nothing but the order of clusters. An
// estimate is never more than a CTA can have; ptxas' own count (`options.registers`) is taken as it is.
uint32_t registers_of(const isa::ArchSpec& arch, const Launch& l, const Program& program,
                      const sass::Lowered* lowered, const RunOptions& options) {
  if (lowered != nullptr && options.registers != 0) return options.registers;
  const auto sub_cores = static_cast<uint64_t>(arch.sub_cores);  // each has as many warps as the fullest
  const uint64_t warps = std::max<uint64_t>((l.block.count() + 31) / 32, 1);
  const uint64_t threads = (warps + sub_cores - 1) / sub_cores * sub_cores * 32;
  const auto unit = static_cast<uint64_t>(arch.register_unit_per_thread);
  const uint64_t most = static_cast<uint64_t>(arch.registers_per_sm) / threads / unit * unit;
  return std::min(lowered != nullptr ? lowered->thread_registers : program.launch_registers,
                  static_cast<uint32_t>(most));
}

// A chip may lack units (`without` in its .clock file): a kernel that needs one is refused.
void check_units(const isa::ClockParameters& clock, const Program& program, RunResult& r) {
  if (clock.absent == 0) return;
  for (const MicroOp& op : program.code) {
    if (op.instruction == nullptr) continue;
    const std::string_view unit = clock.absent_unit_of(isa::timing(*op.instruction).latency);
    if (unit.empty()) continue;
    const std::string text =
        isa::print(*program.module, program.module->functions[op.function], *op.instruction);
    refuse(r, Code::missing_unit,
           fmt::format("`{}` needs the unit {}, which the clock's chip does not have", text, unit));
    return;
  }
}

bool has_clock(const RunOptions& options) { return options.schedule.kind == Schedule::Kind::hardware; }

// Null under schedules without a clock, or when the architecture has no parameters.
const isa::ClockParameters* clock_of(const isa::ArchSpec& arch, const RunOptions& options) {
  if (!has_clock(options)) return nullptr;
  return options.parameters != nullptr ? options.parameters : isa::find_clock(arch.name);
}

void check_parameters(const Launch& launch, const isa::Function& entry, RunResult& r) {
  const uint32_t bytes = isa::param_layout(*launch.module, entry).size;
  if (launch.params.size() != bytes)
    refuse(r, Code::parameter_size,
           fmt::format("the kernel takes {} bytes of parameters, the launch gives {}", bytes,
                       launch.params.size()));
}

void check_clock(const isa::ArchSpec& arch, const isa::ClockParameters* clock, const Program& program,
                 uint64_t cluster, RunResult& r) {
  if (clock != nullptr) {
    check_units(*clock, program, r);
    if (cluster > 2 && static_cast<double>(cluster) > clock->launch_cluster_sms)
      refuse(r, Code::cluster_too_large,
             fmt::format("a cluster of {} CTAs: the clock has launch.cluster_sms = {}", cluster,
                         clock->launch_cluster_sms));
    return;
  }
  r.errors.push_back(refusal(Code::no_clock, fmt::format("the clock has no parameters of {}", arch.name),
                             "name a file of them, or another architecture", isa::Severity::unsupported));
}

}  // namespace

void Machine::load(const isa::Module& module) { load(module, {}); }

void Machine::load(const isa::Module& module, const Placed& placed) {
  if (loaded_.contains(&module)) return;
  std::vector<uint64_t> addresses(module.symbols.size(), 0);
  const auto is_global = [](const isa::Symbol& s) {
    return s.kind == isa::Symbol::Kind::variable &&
           (s.variable.space == isa::Space::global || s.variable.space == isa::Space::const_);
  };
  for (isa::SymbolId id = 0; id < module.symbols.size(); ++id) {
    const isa::Symbol& s = module.symbols[id];
    if (s.kind == isa::Symbol::Kind::function) addresses[id] = function_addresses + s.function;
    if (!is_global(s)) continue;
    if (const auto at = placed.find(s.name); at != placed.end()) {
      addresses[id] = at->second;
      continue;
    }
    addresses[id] = memory_.allocate(s.variable.size(), s.name);
    uint8_t* bytes = memory_.find(Address(addresses[id]), s.variable.size());
    std::copy_n(s.variable.init.begin(), std::min<uint64_t>(s.variable.init.size(), s.variable.size()),
                bytes);
  }
  for (isa::SymbolId id = 0; id < module.symbols.size(); ++id) {
    const isa::Symbol& s = module.symbols[id];
    if (!is_global(s) || placed.contains(s.name)) continue;
    for (const isa::Relocation& r : s.variable.relocations) {
      const uint64_t value = addresses[r.symbol] + static_cast<uint64_t>(r.addend);
      std::memcpy(memory_.find(Address(addresses[id] + r.at), r.size), &value, r.size);
    }
  }
  loaded_.emplace(&module, std::move(addresses));
}

Address Machine::symbol(const isa::Module& module, std::string_view name) {
  load(module);
  const isa::SymbolId id = module.find_symbol(name);
  return Address(id == isa::no_id ? 0 : loaded_.at(&module)[id]);
}

LaunchState Machine::state_of(const Launch& launch, const RunOptions& options, const Program& program,
                              const isa::ClockParameters* clock) {
  if (program.allocates && heap_ == 0) {
    heap_bytes_ = launch.heap_bytes;
    heap_ = memory_.allocate(heap_bytes_, "device heap");
  }
  LaunchState state{launch};
  state.heap_bytes = heap_bytes_;  // the first launch that uses it decides
  state.options = options;
  state.arch = arch_;
  state.textures = &textures_;
  state.heap = heap_;
  state.explicit_cluster = launch.cluster.count() > 1 || program.entry->explicitcluster;
  if (clock != nullptr) state.clock_mhz = clock->sm_clock;
  return state;
}

Run Machine::start(const Launch& launch, const RunOptions& options) {
  RunResult result;
  const isa::Function* entry = launch.module->find_entry(launch.entry);
  if (entry == nullptr) {
    refuse(result, Code::no_entry,
           launch.entry.empty() ? "the module has no entry, or several: name one"
                                : fmt::format("the module has no entry `{}`", launch.entry));
    return Run(std::move(result));
  }
  if (auto refusal = isa::refuse_target(*launch.module, *arch_)) {
    result.errors.push_back(std::move(*refusal));
    return Run(std::move(result));
  }
  check_shape(*arch_, launch, *entry, result);
  load(*launch.module);
  auto program = compile(*launch.module, *entry, *arch_, loaded_.at(launch.module), options.fmad);
  const isa::ClockParameters* const clock = clock_of(*arch_, options);
  auto lowered =
      clock != nullptr ? std::make_unique<const sass::Lowered>(sass::lower(*program, *clock)) : nullptr;
  if (result.errors.empty())
    check_resources(*arch_, launch, *program, registers_of(*arch_, launch, *program, lowered.get(), options),
                    result);
  check_parameters(launch, *entry, result);
  if (has_clock(options)) check_clock(*arch_, clock, *program, launch.cluster.count(), result);
  if (result.errors.empty() && options.values == Values::none) result.errors = drop_values(*program);
  if (!result.errors.empty()) return Run(std::move(result));
  bind_handlers(*program);
  LaunchState state = state_of(launch, options, *program, clock);
  return Run(RunParts{.clock = clock,
                      .memory = &memory_,
                      .program = std::move(program),
                      .lowered = std::move(lowered),
                      .launch = std::move(state)},
             std::move(result));
}

RunResult Machine::run(const Launch& launch, const RunOptions& options) {
  Run run = start(launch, options);
  while (run.advance()) {
  }
  return run.take_result();
}

}  // namespace palladion::sim
