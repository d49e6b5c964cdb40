#include "sim/check/protocol/state_tokens.h"

#include <bit>
#include <cstring>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {

void StateTokens::note(const MbarrierObject& b, const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  const auto* form = origin.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(origin.effect);
  if (form == nullptr || form->dst < 0) return;
  const DecodedOperand& dst = p_.context.run.program->code[origin.pc].operands[form->dst];
  if (dst.kind != DecodedOperand::Kind::lanes || dst.width != 64) return;
  Token& token = tokens_[{p_.causality.index(origin), dst.slot.offset}];
  token.address = b.address;
  token.serial = b.serial;
  token.phase = b.number;
  token.values[static_cast<size_t>(std::countr_zero(e.lanes))] = e.before;
}

// A state is valid for the object that returned it, in its phase and while that is the last complete one.
void StateTokens::check(const MbarrierObject& b, const Origin& origin) const {
  const auto* form = origin.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(origin.effect);
  if (form == nullptr || form->state < 0) return;
  const DecodedOperand& state = p_.context.run.program->code[origin.pc].operands[form->state];
  if (state.kind != DecodedOperand::Kind::lanes || state.width != 64 || state.slot.constant) return;
  const auto at = tokens_.find({p_.causality.index(origin), state.slot.offset});
  if (at == tokens_.end()) return;
  const Token& token = at->second;
  const uint8_t* registers = p_.cluster().ctas[origin.cta_rank].warps[origin.warp].registers.data();
  const auto lane = static_cast<size_t>(std::countr_zero(origin.lanes));
  uint64_t value;
  std::memcpy(&value, registers + state.slot.offset + 8 * lane, 8);
  if (value != token.values[lane]) return;  // the register holds something else by now
  const bool foreign = token.address != b.address || token.serial != b.serial;
  if (!foreign && token.phase >= b.number - 1) return;
  const FindingKey key{Code::misused_mbarrier_form, origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = rules_.finding(
      b,
      foreign ? say<Phrase::state_of_other_mbarrier>(p_.mbarrier(b.address), p_.mbarrier(token.address))
              : say<Phrase::state_of_old_phase>(p_.mbarrier(b.address), token.phase, b.number),
      FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, Does::waits), rules_.init_site(b)};
  f.missing = say<Phrase::state_of_last_arrival>();
  f.help = say<Phrase::what_a_state_names>();
  p_.reporter().report(key, std::move(f));
}

}  // namespace palladion::sim::check
