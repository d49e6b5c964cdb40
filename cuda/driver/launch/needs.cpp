// What a kernel needs of the chip, and how many of its CTAs an SM has room for.
#include <algorithm>

#include "cuda/driver/state.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/pressure.h"

namespace palladion::cuda::driver {

tl::expected<Needs, Status> needs_of(Kernel& kernel) {
  if (kernel.needs) return *kernel.needs;
  State& s = state();
  const isa::Module* module = module_of(*kernel.image);
  if (module == nullptr) return tl::unexpected(no_binary_for_gpu);
  const isa::Function* entry = module->find_entry(kernel.name);
  if (entry == nullptr) return tl::unexpected(not_found);
  Needs n;
  const auto program =
      sim::compile(*module, *entry, *s.arch, std::vector<uint64_t>(module->symbols.size(), 0));
  const std::optional<int> counted = counted_registers(*kernel.image, kernel.name);
  n.counted = counted.has_value();
  n.registers = counted.value_or(static_cast<int>(sim::sass::estimated_registers(*program)));
  n.barriers = static_cast<int>(sim::sass::named_barriers(*program));
  n.static_shared = int64_t{program->static_shared} - program->reserved_shared;
  n.local = program->local_bytes;
  n.constants = constant_bytes(*module);
  n.max_threads = s.arch->max_threads_per_cta;
  const int unit = s.arch->register_unit_per_thread;
  const int rounded = (std::max(n.registers, 1) + unit - 1) / unit * unit;
  n.max_threads = std::min(n.max_threads, s.arch->registers_per_sm / rounded / 32 * 32);
  if (entry->maxntid) n.max_threads = std::min<int>(n.max_threads, static_cast<int>(entry->maxntid->count()));
  kernel.needs = n;
  return n;
}

int ctas_per_sm(const Needs& needs, int threads, size_t dynamic_shared) {
  const isa::ArchSpec& chip = *state().arch;
  if (threads <= 0 || threads > chip.max_threads_per_cta ||
      dynamic_shared > static_cast<size_t>(chip.shared_bytes_per_sm))
    return 0;
  isa::CtaResources cta;
  cta.threads = threads;
  cta.registers_per_thread = needs.registers;
  cta.shared_bytes = needs.static_shared + static_cast<int64_t>(dynamic_shared);
  cta.barriers = needs.barriers;
  return isa::occupancy(*state().arch, cta).ctas_per_sm;
}

}  // namespace palladion::cuda::driver
