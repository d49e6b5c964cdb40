// Launches: a kernel's arguments, its run on the machine, and what its end means for the program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "cuda/driver/state.h"
#include "isa/core/symbol_name.h"
#include "report/text/finding_text.h"
#include "sim/check/core/merge.h"
#include "sim/launch/codes.h"
#include "sim/machine/exec/heap.h"
#include "sim/machine/state/grid_workspace.h"
#include "sim/program/compile/call_graph.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/pressure.h"
#include "verify/verdict/watch.h"

namespace palladion::cuda::driver {
namespace {

// The error that the driver gives for this fault.
Status status_of(const sim::Finding& f) {
  using enum sim::Code;
  const auto is = [&](auto... codes) { return ((f.code == codes) || ...); };
  if (f.severity == sim::FindingSeverity::unsupported) return not_supported;
  if (is(failed_assertion)) return assert_failed;
  if (is(shared_bounds, no_such_cta, global_bounds, local_bounds)) return illegal_address;
  if (is(misaligned_access)) return misaligned_address;
  if (is(gave_up)) return launch_timeout;
  return launch_failed;
}

LaunchRecord& record_of(State& s, const LaunchWork& w) {
  for (LaunchRecord& r : s.launches)
    if (r.kernel == w.kernel->name && r.grid == w.grid && r.block == w.block) return r;
  s.launches.push_back({.kernel = w.kernel->name, .grid = w.grid, .block = w.block});
  return s.launches.back();
}

void keep(LaunchRecord& record, const std::vector<sim::Finding>& findings) {
  if (findings.empty()) return;
  record.findings += findings.size();
  record.found.insert(record.found.end(), findings.begin(), findings.end());
  record.found = sim::check::merge(std::move(record.found));
}

void tell(const std::string& text) { fmt::print(stderr, "{}\n", text); }

bool counts(const sim::Finding& f) {
  return f.fatal || f.severity == sim::FindingSeverity::error ||
         f.severity == sim::FindingSeverity::unsupported;
}

}  // namespace

Status prepare(LaunchWork& work, void* function, void** params, void** extra) {
  work.kernel = static_cast<Kernel*>(function);
  if (work.kernel == nullptr) return invalid_handle;
  const isa::Module* module = module_of(*work.kernel->image);
  if (module == nullptr) return no_binary_for_gpu;
  const isa::Function* entry = module->find_entry(work.kernel->name);
  if (entry == nullptr) return not_found;
  const isa::ParamLayout layout = isa::param_layout(*module, *entry);
  work.params.assign(layout.size, 0);
  if (params != nullptr) {
    for (size_t i = 0; i < layout.offsets.size(); ++i) {
      const uint64_t bytes = module->symbols[entry->params[i]].variable.size();
      if (params[i] == nullptr) return invalid_value;
      std::memcpy(work.params.data() + layout.offsets[i], params[i], bytes);
    }
  } else if (extra != nullptr) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (void** e = extra; *e != nullptr; e += 2) {
      if (*e == reinterpret_cast<void*>(1)) buffer = e[1];
      if (*e == reinterpret_cast<void*>(2)) bytes = *static_cast<size_t*>(e[1]);
    }
    if (buffer != nullptr) std::memcpy(work.params.data(), buffer, std::min<size_t>(bytes, layout.size));
  } else if (!layout.offsets.empty()) {
    return invalid_value;
  }
  if (entry->reqnctapercluster && work.cluster.count() == 1) work.cluster = *entry->reqnctapercluster;
  return success;
}

void** parameter_pointers(LaunchWork& work) {
  const isa::Module& module = *work.kernel->image->module;
  work.pointers.clear();
  for (const uint32_t offset : isa::param_layout(module, *module.find_entry(work.kernel->name)).offsets)
    work.pointers.push_back(work.params.data() + offset);
  return work.pointers.data();
}

namespace {

// Launches do not overlap: one workspace is enough.
void give_workspace(State& s, sim::Launch& launch) {
  if (s.grid_workspace == 0)
    s.grid_workspace =
        s.machine->memory().allocate(sim::grid_workspace_bytes, "workspace of a cooperative launch");
  sim::set_grid_workspace(s.machine->memory(), s.grid_workspace, launch);
}

bool allocates(const isa::Module& module) {
  return std::ranges::any_of(module.functions,
                             [](const isa::Function& f) { return !f.defined && sim::uses_heap(f.name); });
}

}  // namespace

Status perform(const LaunchWork& work) {
  State& s = state();
  if (s.sticky != success) return s.sticky;
  sim::Launch launch;
  launch.module = work.kernel->image->module.get();
  launch.entry = work.kernel->name;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.cluster = work.cluster;
  launch.dynamic_shared = work.shared;
  launch.params = work.params;
  launch.stack_bytes = s.limits[limit_stack];
  launch.heap_bytes = s.limits[limit_heap];
  if (work.cooperative) give_workspace(s, launch);
  if (allocates(*launch.module)) s.heap_used = true;
  const bool launches = launches_kernels(*launch.module);
  if (launches) give_queue(s, launch);
  if (sets_conditions(*launch.module)) give_conditions(s, launch);
  sim::RunOptions options;
  options.schedule = sim::schedule_named(s.settings.schedule).value_or(sim::Schedule{});
  options.threads = s.settings.threads;
  options.max_warp_instructions = s.settings.max_instructions;
  // All of its CTAs wait for each other: check_launch has seen that the chip has room for them.
  if (work.cooperative) options.resident_clusters = work.grid.count() / work.cluster.count();
  options.fmad = s.settings.fmad;
  verify::Watch watch(sim::check::options_named(s.settings.check, nullptr).value_or(verify::no_checks));
  options.observer = watch.observer();
  ++s.performed;
  const auto start = std::chrono::steady_clock::now();
  const sim::RunResult result = s.machine->run(launch, options);
  LaunchRecord& record = record_of(s, work);
  ++record.launches;
  record.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.instructions += result.instructions;
  record.cycles += result.clock.cycles;
  record.microseconds += result.clock.microseconds();
  keep(record, result.findings);
  s.clock_us += result.clock.microseconds();
  s.printed += result.printed;
  if (!result.errors.empty()) {
    for (const isa::Diagnostic& d : result.errors)
      tell(fmt::format("{}: {}", isa::readable_name(work.kernel->name), isa::render(isa::Diagnostics{d})));
    ++s.errors;
    return result.errors.front().severity == isa::Severity::unsupported ? not_supported
                                                                        : launch_out_of_resources;
  }
  Status status = success;
  for (const sim::Finding& f : sim::check::merge(result.findings)) {
    if ((record.launches == 1 || counts(f)) && !sim::check::is_remark(f))
      tell(report::finding_text(f, {.ptx = {}}));
    if (counts(f)) ++s.errors;
    if (f.fatal && status == success) status = status_of(f);
  }
  if (result.deadlocked && status == success) status = launch_timeout;
  if (!result.completed && status == success) status = launch_failed;
  if (status != success) s.sticky = status;
  if (status == success && launches) return perform_launched(s, work);
  return success;  // as on a GPU, the next call that waits gives the kernel's error
}

tl::expected<Needs, Status> needs_of(Kernel& kernel) {
  State& s = state();
  const isa::Module* module = module_of(*kernel.image);
  if (module == nullptr) return tl::unexpected(no_binary_for_gpu);
  const isa::Function* entry = module->find_entry(kernel.name);
  if (entry == nullptr) return tl::unexpected(not_found);
  Needs n;
  const auto program =
      sim::compile(*module, *entry, *s.arch, std::vector<uint64_t>(module->symbols.size(), 0));
  n.registers = static_cast<int>(sim::sass::estimated_registers(*program));
  n.barriers = static_cast<int>(sim::sass::named_barriers(*program));
  n.static_shared = int64_t{program->static_shared} - program->reserved_shared;
  n.local = program->local_bytes;
  for (const isa::Symbol& symbol : module->symbols)
    if (symbol.kind == isa::Symbol::Kind::variable && symbol.variable.space == isa::Space::const_)
      n.constants += static_cast<int64_t>(symbol.variable.size());
  n.max_threads = s.arch->max_threads_per_cta;
  const int unit = s.arch->register_unit_per_thread;
  const int rounded = (std::max(n.registers, 1) + unit - 1) / unit * unit;
  n.max_threads = std::min(n.max_threads, s.arch->registers_per_sm / rounded / 32 * 32);
  if (entry->maxntid) n.max_threads = std::min<int>(n.max_threads, static_cast<int>(entry->maxntid->count()));
  if (entry->reqntid) n.max_threads = static_cast<int>(entry->reqntid->count());
  return n;
}

int ctas_per_sm(const Needs& needs, int threads, size_t dynamic_shared) {
  isa::CtaResources cta;
  cta.threads = threads;
  cta.registers_per_thread = needs.registers;
  cta.shared_bytes = needs.static_shared + static_cast<int64_t>(dynamic_shared);
  cta.barriers = needs.barriers;
  return isa::occupancy(*state().arch, cta).ctas_per_sm;
}

}  // namespace palladion::cuda::driver
