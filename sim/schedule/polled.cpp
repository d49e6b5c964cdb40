#include "sim/schedule/polled.h"

#include <bit>
#include <cstring>

#include "sim/launch/codes.h"

namespace palladion::sim {
namespace {

bool writes_registers(const MicroOp& op) {
  const auto& operands = op.instruction->operands;
  for (size_t k = 0; k < operands.size(); ++k)
    if (op.instruction->form->operands[k].writes && !operands[k].is(isa::Operand::Kind::sink)) return true;
  return false;
}

uint64_t address_of(const Program& program, const WarpState& warp, const DecodedOperand& o, int lane) {
  const uint8_t* const base =
      (o.slot.constant ? program.constants.data() : warp.registers.data()) + o.slot.offset;
  const auto offset = static_cast<uint64_t>(o.offset);
  if (o.width == 0) return offset;
  if (o.width == 64) return reinterpret_cast<const uint64_t*>(base)[lane] + offset;
  return static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(base)[lane] + offset);
}

}  // namespace

std::optional<Pc> polling_read(const Program& program, Pc pc, const std::vector<bool>& ahead) {
  for (Pc at = pc + 1; at > 0;) {
    if (!ahead[--at]) continue;
    const isa::Footprint& f = program.footprints[at];
    if (f.read() != nullptr && f.order != isa::Order::weak && writes_registers(program.code[at])) return at;
  }
  return std::nullopt;
}

Polled polled_value(const Program& program, Pc read, const GlobalMemory& memory, const ClusterState& cluster,
                    const CtaState& cta, const WarpState& warp, uint32_t lanes) {
  const isa::Footprint& footprint = program.footprints[read];
  const isa::MemoryUse* const use = footprint.read();
  if (footprint.sync.object != isa::Sync::Object::none || use == nullptr || use->address < 0 || lanes == 0 ||
      use->bytes == 0 || use->bytes > sizeof(uint64_t))
    return {};
  const DecodedOperand& operand = program.code[read].operands[use->address];
  if (operand.kind != DecodedOperand::Kind::address) return {};
  const uint64_t address = address_of(program, warp, operand, std::countr_zero(lanes));
  uint64_t value = 0;
  switch (space_of(use->space, address)) {
    case isa::Space::global: {
      const uint8_t* const bytes = memory.find(Address(address), use->bytes);
      if (bytes == nullptr) return {};
      std::memcpy(&value, bytes, use->bytes);
      const Allocation& a = *memory.lookup(Address(address));
      const uint64_t offset = address - a.base;
      return {.address = address,
              .bytes = use->bytes,
              .object = {.kind = Object::Kind::global_memory,
                         .names = {{.name = a.name, .index = {}, .bytes = {{offset, offset + use->bytes}}}}},
              .value = value,
              .of_the_host = footprint.scope == isa::Scope::sys && a.host_writes};
    }
    case isa::Space::shared_cta:
    case isa::Space::shared_cluster: {
      const auto at = static_cast<uint32_t>(address);
      const uint32_t rank = at >> cta_rank_shift, offset = at & shared_offset_mask;
      if (rank >= cluster.ctas.size() || offset + use->bytes > cluster.ctas[rank].shared.size()) return {};
      std::memcpy(&value, cluster.ctas[rank].shared.data() + offset, use->bytes);
      Object object{.kind = Object::Kind::shared_memory, .ranges = {{offset, offset + use->bytes}}};
      if (rank != cta.rank) object.cta = cluster.ctas[rank].id;
      return {
          .address = at, .bytes = use->bytes, .shared = true, .object = std::move(object), .value = value};
    }
    default:
      return {};
  }
}

void call_wait_for_host(Finding& f) {
  f.code = Code::wait_for_host;
  f.severity = FindingSeverity::unsupported;
  std::get<Deadlock>(f.what).for_host = true;
  f.message = {};
  f.help = {};
}

}  // namespace palladion::sim
