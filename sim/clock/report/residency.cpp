#include "sim/clock/report/residency.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "sim/clock/memory/sites.h"
#include "sim/program/compile/compile.h"
#include "sim/sass/pressure.h"

namespace palladion::sim {
namespace {

// One resource of a CTA: what it needs when it needs nothing else.
struct Need {
  SmResource resource;
  uint64_t taken = 0;
  isa::CtaResources (*alone)(uint64_t amount, const isa::CtaResources& cta);
};

std::vector<Need> needs_of(const isa::ArchSpec& arch, const isa::CtaResources& cta) {
  const auto count = [](auto n) { return static_cast<uint64_t>(n); };
  return {{SmResource::shared, count(cta.shared_bytes),
           [](uint64_t n, const isa::CtaResources&) {
             return isa::CtaResources{.shared_bytes = static_cast<int64_t>(n), .barriers = 0};
           }},
          {SmResource::registers, count(cta.registers_per_thread),
           [](uint64_t n, const isa::CtaResources& of) {
             return isa::CtaResources{
                 .threads = of.threads, .registers_per_thread = static_cast<int>(n), .barriers = 0};
           }},
          {SmResource::warps, count((cta.threads + arch.warp_size - 1) / arch.warp_size * arch.warp_size),
           [](uint64_t n, const isa::CtaResources&) {
             return isa::CtaResources{.threads = static_cast<int>(n), .barriers = 0};
           }},
          {SmResource::barriers, count(cta.barriers), [](uint64_t n, const isa::CtaResources&) {
             return isa::CtaResources{.barriers = static_cast<int>(n)};
           }}};
}

// The largest amount, below what is taken, with which so many CTAs fit; 0: none. What fits only shrinks as
// the amount grows.
uint64_t most_for(const isa::ArchSpec& arch, const Need& need, const isa::CtaResources& cta, int ctas) {
  uint64_t fits = 0, fails = need.taken;
  while (fits + 1 < fails) {
    const uint64_t middle = (fits + fails) / 2;
    (isa::occupancy(arch, need.alone(middle, cta)).ctas_per_sm >= ctas ? fits : fails) = middle;
  }
  return fits;
}

std::vector<ScarceResource> scarce_of(const isa::ArchSpec& arch, const isa::CtaResources& cta, int ctas) {
  std::vector<ScarceResource> out;
  if (ctas == arch.max_ctas_per_sm) return out;
  for (const Need& need : needs_of(arch, cta))
    if (isa::occupancy(arch, need.alone(need.taken, cta)).ctas_per_sm <= ctas)
      out.push_back({need.resource, need.taken, most_for(arch, need, cta, ctas + 1)});
  return out;
}

// Columns of tensor memory that a CTA takes; 0: none, or more than one instruction takes them.
uint64_t tensor_columns_of(const Program& program) {
  uint64_t columns = 0;
  for (const MicroOp& op : program.code) {
    if (op.effect == nullptr) continue;
    const auto* const a = std::get_if<isa::TensorMemoryAllocation>(op.effect);
    if (a == nullptr || a->action != isa::TensorMemoryAction::alloc) continue;
    const DecodedOperand& count = op.operands[a->columns];
    if (columns != 0 || !count.slot.constant) return 0;
    columns = static_cast<uint64_t>(count.offset);
  }
  return columns;
}

// CTAs that have to wait for tensor memory are no help.
void add_tensor_memory(std::vector<ScarceResource>& scarce, const isa::ArchSpec& arch, const Program& program,
                       uint64_t ctas) {
  const uint64_t columns = tensor_columns_of(program), all = static_cast<uint64_t>(arch.tensor_columns);
  if (columns == 0 || columns * (ctas + 1) <= all) return;
  const auto unit = static_cast<uint64_t>(arch.tensor_unit_columns);
  uint64_t most = unit;  // a power of two
  while (most * 2 * (ctas + 1) <= all) most *= 2;
  scarce.push_back(
      {SmResource::tensor_memory, columns, most * (ctas + 1) <= all && most < columns ? most : 0});
}

}  // namespace

std::string_view name(SmResource resource) {
  constexpr std::string_view names[] = {"shared memory", "registers", "warps", "named barriers",
                                        "tensor memory"};
  return names[static_cast<size_t>(resource)];
}

std::string_view unit(SmResource resource) {
  constexpr std::string_view units[] = {"bytes a CTA", "registers a thread", "threads a CTA",
                                        "barriers a CTA", "columns a CTA"};
  return units[static_cast<size_t>(resource)];
}

double Residency::empty_share() const {
  const auto room = static_cast<double>(waves() * at_once);
  return room == 0 ? 0 : 1 - static_cast<double>(clusters) / room;
}

Residency residency_of(const ResidencyQuestion& q, const isa::ArchSpec& arch,
                       const isa::ClockParameters& clock) {
  Residency out;
  const isa::Function* const function = q.module->find_entry(q.entry);
  if (function == nullptr) return out;
  const auto program =
      compile(*q.module, *function, arch, std::vector<uint64_t>(q.module->symbols.size(), 0));
  isa::CtaResources cta;
  cta.threads = static_cast<int>(q.block.count());
  cta.registers_per_thread = static_cast<int>(q.registers);
  cta.shared_bytes = int64_t{program->static_shared} - program->reserved_shared + q.dynamic_shared;
  cta.barriers = static_cast<int>(sass::named_barriers(*program));
  const int ctas = isa::occupancy(arch, cta).ctas_per_sm;
  out.sms = static_cast<uint64_t>(arch.sm_count);
  out.ctas_per_sm = static_cast<uint32_t>(ctas);
  out.ctas_per_cluster = static_cast<uint32_t>(std::max<uint64_t>(1, q.cluster.count()));
  out.clusters = q.grid.count() / out.ctas_per_cluster;
  const uint64_t any = std::numeric_limits<uint64_t>::max();
  out.at_once = hardware::placements_of(arch, hardware::sites(arch), any, out.ctas_per_cluster,
                                        clock.launch_cluster_sms)
                    .size() *
                out.ctas_per_sm;
  if (ctas == 0) return out;
  out.scarce = scarce_of(arch, cta, ctas);
  add_tensor_memory(out.scarce, arch, *program, out.ctas_per_sm);
  return out;
}

isa::ArchSpec with_room_for_one_more(const isa::ArchSpec& arch, const Residency& residency) {
  isa::ArchSpec roomy = arch;
  for (const ScarceResource& s : residency.scarce) {
    if (s.resource == SmResource::registers) roomy.registers_per_sm *= 2;
    if (s.resource == SmResource::shared) roomy.shared_bytes_per_sm *= 2;
    if (s.resource == SmResource::barriers) roomy.barriers_per_sm *= 2;
  }
  roomy.max_ctas_per_sm = static_cast<int>(residency.ctas_per_sm) + 1;
  return roomy;
}

}  // namespace palladion::sim
