#include "sim/schedule/polled.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

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

std::optional<uint32_t> polling_read(const Program& program, uint32_t pc, const std::vector<bool>& ahead) {
  for (uint32_t at = pc + 1; at-- > 0;) {
    if (!ahead[at]) continue;
    const isa::Footprint& f = program.footprints[at];
    if (f.read() != nullptr && f.order != isa::Order::weak && writes_registers(program.code[at])) return at;
  }
  return std::nullopt;
}

Polled polled_value(const Program& program, uint32_t read, const GlobalMemory& memory,
                    const ClusterState& cluster, const CtaState& cta, const WarpState& warp, uint32_t lanes) {
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
      const uint8_t* const bytes = memory.find(address, use->bytes);
      if (bytes == nullptr) return {};
      std::memcpy(&value, bytes, use->bytes);
      return {.text = fmt::format("global address 0x{:x} ({}), which holds 0x{:x}", address,
                                  memory.describe(address), value),
              .of_the_host = footprint.scope == isa::Scope::sys && memory.lookup(address)->host_writes};
    }
    case isa::Space::shared_cta:
    case isa::Space::shared_cluster: {
      const auto at = static_cast<uint32_t>(address);
      const uint32_t rank = at >> cta_rank_shift, offset = at & shared_offset_mask;
      if (rank >= cluster.ctas.size() || offset + use->bytes > cluster.ctas[rank].shared.size()) return {};
      std::memcpy(&value, cluster.ctas[rank].shared.data() + offset, use->bytes);
      const std::string of = rank == cta.rank ? "" : fmt::format(" of CTA rank {}", rank);
      return {.text = fmt::format("shared address 0x{:x}{}, which holds 0x{:x}", offset, of, value)};
    }
    default:
      return {};
  }
}

void call_wait_for_host(Finding& f, uint64_t warps) {
  f.code = "PLD3081";
  f.severity = FindingSeverity::unsupported;
  f.message = fmt::format(
      "the kernel waits for a write of the host, which is not simulated while a kernel runs; {} warp{}",
      warps, warps == 1 ? " waits" : "s wait");
  f.help =
      "let the host write before the launch; if a thread of the kernel should write there, this is a "
      "deadlock";
}

}  // namespace palladion::sim
