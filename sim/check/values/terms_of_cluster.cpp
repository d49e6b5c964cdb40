#include "sim/check/values/terms_of_cluster.h"

// What instructions make of what is in registers.
#include <algorithm>
#include <bit>

#include "sim/machine/exec/lane_values.h"
#include "sim/machine/exec/shuffle_sources.h"
#include "sim/program/deciding.h"

namespace palladion::sim::check {
namespace {

using O = isa::Operation;

constexpr size_t most_terms = 8;  // operands of an instruction that are looked at one by one

// The same for both orders. Of two zeros, as a mask leaves them in lanes beyond an array's end, it adds
// nothing.
uint64_t product(uint64_t a, uint64_t b) {
  return a == 0 && b == 0 ? 0 : scramble(scramble(a) + scramble(b));
}

bool is_real(isa::Type t) {
  return isa::is_float(t) || t == isa::Type::f16x2 || t == isa::Type::bf16x2 || t == isa::Type::f32x2;
}

bool is_symmetric(O o) {
  return o == O::add || o == O::multiply || o == O::minimum || o == O::maximum || o == O::and_ ||
         o == O::or_ || o == O::xor_;
}
// Of nearly equal values it makes nearly equal ones. A conversion within a type rounds to an integer.
bool is_smooth(const isa::Instruction& i) {
  const O o = isa::operation(i);
  if (o == O::minimum || o == O::maximum || o == O::absolute || o == O::divide || o == O::function)
    return true;
  if (o != O::convert) return false;
  std::array<isa::Type, 2> types{};
  size_t n = 0;
  for (const isa::OperandDef& def : i.form->operands)
    if (def.kind == isa::OperandKind::value && n < 2)
      types[n++] = isa::operand_type(*i.form, def, i.mods.data());
  return n == 2 && is_real(types[0]) && is_real(types[1]) && types[0] != types[1];
}
bool multiplies_and_adds(O o) { return o == O::fused_multiply_add || o == O::multiply_add; }

isa::Type result_type(const isa::Instruction& i) {
  for (const isa::OperandDef& def : i.form->operands)
    if (def.writes && def.kind == isa::OperandKind::value)
      return isa::operand_type(*i.form, def, i.mods.data());
  return isa::Type::b32;
}

// What its results are made of cannot be seen in its operands.
bool is_opaque(const isa::Footprint& f) {
  return f.values == isa::Values::tensor || f.next == isa::Control::calls || f.read() != nullptr ||
         f.reads_carry || f.writes_carry || f.at(isa::Sync::Object::cta_barrier) || f.issues();
}

}  // namespace

TermsOfCluster::TermsOfCluster(StoredTerms& all, const ClusterState& cluster)
    : all_(all), cluster_(cluster), warps_(cluster.ctas.size() * all.run_.launch->warps_per_cta()) {
  for (Warp& warp : warps_) warp.registers.resize(all.tracked_);
}

const MicroOp& TermsOfCluster::op_at(const Origin& origin) const {
  return all_.run_.program->code[origin.pc];
}

TermsOfCluster::Warp& TermsOfCluster::warp_of(const Origin& origin) {
  return warps_[origin.cta_rank * all_.run_.launch->warps_per_cta() + origin.warp];
}

TermsOfCluster::Lanes* TermsOfCluster::tracked(const Origin& origin, uint32_t reg) {
  const uint32_t i = all_.index_[reg];
  return i == isa::no_id ? nullptr : &warp_of(origin).registers[i];
}

// --- operands ---------------------------------------------------------------------------------------------

const WarpState& TermsOfCluster::state_of(const Origin& origin) const {
  return cluster_.ctas[origin.cta_rank].warps[origin.warp];
}

uint64_t TermsOfCluster::bits_of(const Origin& origin, const DecodedOperand& o, int lane) const {
  return value_bits(*all_.run_.program, state_of(origin), o, lane);
}

Terms TermsOfCluster::terms_of(const Origin& origin, const isa::Operand& written, const DecodedOperand& o,
                               int lane) {
  using Kind = isa::Operand::Kind;
  if (written.is(Kind::vector) || written.is(Kind::address)) {
    Terms all{.how = static_cast<uint64_t>(o.offset), .sum = 0};
    const bool address = written.is(Kind::address);
    for (size_t i = 0; i < written.elements.size(); ++i) {
      const size_t at = address ? i - 1 : i;
      const bool whole = (address && i == 0) || at >= o.elements.size();
      const Terms one = terms_of(origin, written.elements[i], whole ? o : o.elements[at], lane);
      all.how = mixed(all.how, one.how);
      all.sum = mixed(all.sum, one.sum);
      if (one.data) all.data = true, all.cause = one.cause;
    }
    return all;
  }
  if (written.is(Kind::reg)) {
    const Lanes* const lanes =
        tracked(origin, all_.run_.program->register_offsets_base[op_at(origin).function] + written.id);
    if (lanes != nullptr && (*lanes)[static_cast<size_t>(lane)].data) {
      Terms terms = (*lanes)[static_cast<size_t>(lane)];
      if (written.negated) terms.how = mixed(terms.how, 1), terms.sum = mixed(terms.sum, 1);
      return terms;
    }
  }
  const uint64_t bits = bits_of(origin, o, lane), how = mixed(bits, written.negated ? 1 : 0);
  const bool zero = bits << (64 - std::clamp<int>(o.width, 2, 64)) << 1 == 0;  // of a float, with either sign
  return {.how = how, .sum = zero ? 0 : how};
}

Terms TermsOfCluster::operand(const Origin& origin, int operand, int lane) {
  const MicroOp& op = op_at(origin);
  return terms_of(origin, op.instruction->operands[static_cast<size_t>(operand)], op.operands[operand], lane);
}

Terms TermsOfCluster::unknown(Pc cause) {
  const uint64_t how = mixed(mixed(uint64_t{cluster_.index} + 1, cause), ++unknowns_);
  return {.how = how, .sum = how, .data = true, .cause = cause};
}

Terms TermsOfCluster::here(const Origin& origin, int lane, Terms terms) {
  const uint64_t path = warp_of(origin).path[static_cast<size_t>(lane)];
  if (path == 0) return terms;
  if (!terms.data) terms.cause = origin.pc;
  return {.how = mixed(terms.how, path), .sum = mixed(terms.sum, path), .data = true, .cause = terms.cause};
}

// --- results ----------------------------------------------------------------------------------------------

void TermsOfCluster::set(const Origin& origin, const isa::Operand& to, int lane, const Terms& terms) {
  if (!to.is(isa::Operand::Kind::reg)) return;
  Lanes* const lanes =
      tracked(origin, all_.run_.program->register_offsets_base[op_at(origin).function] + to.id);
  if (lanes != nullptr) (*lanes)[static_cast<size_t>(lane)] = here(origin, lane, terms);
}

// `of(lane, k)`: of result k.
template <class Of>
void TermsOfCluster::set_results(const Origin& origin, Of&& of) {
  const isa::Instruction& i = *op_at(origin).instruction;
  uint64_t k = 0;
  const auto each = [&](const isa::Operand& to) {
    for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      set(origin, to, lane, of(lane, k));
    }
    ++k;
  };
  for (size_t n = 0; n < i.operands.size(); ++n) {
    if (!i.form->operands[n].writes) continue;
    if (i.operands[n].is(isa::Operand::Kind::vector))
      for (const isa::Operand& element : i.operands[n].elements) each(element);
    else
      each(i.operands[n]);
  }
}

// Of an instruction of one lane. What it only passes on stays what it is.
Terms TermsOfCluster::computed(const Origin& origin, int lane) {
  const isa::Instruction& i = *op_at(origin).instruction;
  const O o = isa::operation(i);
  std::array<Terms, most_terms> of;
  size_t n = 0;
  Terms out{.how = operation_hash(i), .sum = operation_hash(i)};
  bool vectors = false;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    vectors |= i.operands[k].is(isa::Operand::Kind::vector);
    if (!i.form->operands[k].reads || n == most_terms) continue;
    of[n] = operand(origin, static_cast<int>(k), lane);
    if (of[n].data && !out.data) out.data = true, out.cause = of[n].cause;
    ++n;
  }
  if (n == most_terms) return unknown(origin.pc);
  if (o == O::move && n == 1 && !vectors) return of[0];
  if (o == O::select && n == 3 && !of[2].data)
    return of[selected_operand(*all_.run_.program, state_of(origin), op_at(origin), lane) == 1 ? 0 : 1];
  uint64_t sum = out.sum;
  for (size_t k = 0; k < n; ++k) sum = mixed(sum, of[k].sum);
  const bool adds_product = multiplies_and_adds(o) && n == 3, two = n == 2;
  // An fma of a product and another one is rounded in its addend alone.
  const bool fused = all_.contracted_.contains(origin.pc);
  std::array<uint64_t, most_terms> how{};
  for (size_t k = 0; k < n; ++k) how[k] = of[k].how;
  if ((two && is_symmetric(o) && !fused) || adds_product) std::sort(how.begin(), how.begin() + 2);
  for (size_t k = 0; k < n; ++k) out.how = mixed(out.how, how[k]);
  if (!is_real(result_type(i)))
    out.sum = o == O::move ? sum : out.how;
  else if (o == O::add && two)
    out.sum = of[0].sum + of[1].sum;
  else if (o == O::subtract && two)
    out.sum = of[0].sum - of[1].sum;
  else if (o == O::negate && n == 1)
    out.sum = 0 - of[0].sum;
  else if (o == O::multiply && two)
    out.sum = product(of[0].sum, of[1].sum);
  else if (adds_product)
    out.sum = product(of[0].sum, of[1].sum) + of[2].sum;
  else
    out.sum = is_smooth(i) ? sum : out.how;
  return out;
}

Terms TermsOfCluster::of_all_lanes(const Origin& origin) {
  const isa::Instruction& i = *op_at(origin).instruction;
  Terms all{.how = mixed(operation_hash(i), origin.lanes)};
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1)
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (!i.form->operands[k].reads) continue;
      const Terms one = operand(origin, static_cast<int>(k), std::countr_zero(m));
      all.how = mixed(all.how, one.how);
      if (one.data && !all.data) all.data = true, all.cause = one.cause;
    }
  all.sum = all.how;
  return all;
}

// The registers that say from which lane are as they were, unless the result is one of them.
void TermsOfCluster::shuffle(const Origin& origin, const isa::Shuffle& e) {
  const MicroOp& op = op_at(origin);
  std::array<Terms, 32> values, lanes;
  std::array<uint32_t, 32> lane_of{}, clamp{};
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto at = static_cast<size_t>(lane);
    values[at] = operand(origin, e.value, lane);
    lanes[at] = operand(origin, e.lane, lane);
    lane_of[at] = static_cast<uint32_t>(bits_of(origin, op.operands[e.lane], lane));
    clamp[at] = static_cast<uint32_t>(bits_of(origin, op.operands[e.clamp], lane));
  }
  int32_t from[32];
  shuffle_sources(e.mode, lane_of.data(), clamp.data(), from);
  set_results(origin, [&](int lane, uint64_t k) {
    const auto at = static_cast<size_t>(lane), source = static_cast<size_t>(from[lane]);
    if (k != 0 || e.dst < 0 || lanes[at].data) return lanes[at].data ? unknown(origin.pc) : Terms{};
    return (origin.lanes >> source & 1) != 0 ? values[source] : unknown(origin.pc);
  });
}

// --- events -----------------------------------------------------------------------------------------------

// A guard that is made of data decides what a lane executes, and which values it has from there on.
void TermsOfCluster::on(const Reached& e) {
  if (!all_.watched_[e.origin.pc]) return;
  const MicroOp& op = op_at(e.origin);
  if (op.guard < 0) return;
  const uint32_t base = all_.run_.program->register_offsets_base[op.function];
  const Lanes* const guard = tracked(e.origin, base + op.instruction->guard.reg);
  if (guard == nullptr) return;
  Warp& warp = warp_of(e.origin);
  for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    if ((*guard)[lane].data) warp.path[lane] = mixed(warp.path[lane], (*guard)[lane].how) | 1;
  }
}

void TermsOfCluster::on(const Executing& e) {
  if (!all_.watched_[e.origin.pc]) return;
  const MicroOp& op = op_at(e.origin);
  if (op.effect == nullptr) return;
  const isa::Footprint& f = all_.run_.program->footprint(op);
  if (const auto* const e_load = std::get_if<isa::Load>(op.effect))
    if (e_load->space == isa::Space::param || e_load->space == isa::Space::const_)
      return set_results(e.origin, [](int, uint64_t) { return Terms{}; });
  if (is_opaque(f) || f.writes_memory() || std::holds_alternative<isa::Shuffle>(*op.effect)) return;
  if (!crosses_lanes(f)) {
    // Before the first result is set: it may be an operand.
    std::array<Terms, 32> of;
    for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1)
      of[static_cast<size_t>(std::countr_zero(m))] = computed(e.origin, std::countr_zero(m));
    const bool one =
        op.instruction->operands.empty() || !op.instruction->operands[0].is(isa::Operand::Kind::vector);
    return set_results(e.origin, [&](int lane, uint64_t k) {
      Terms t = of[static_cast<size_t>(lane)];
      if (k != 0 || !one) t.how = mixed(t.how, k + 1), t.sum = mixed(t.sum, k + 1);
      return t;
    });
  }
  const Terms all = of_all_lanes(e.origin);
  const bool uniform =
      std::holds_alternative<isa::Vote>(*op.effect) || std::holds_alternative<isa::Redux>(*op.effect);
  set_results(e.origin, [&](int lane, uint64_t k) {
    Terms t = all;
    t.how = t.sum = mixed(t.how, uniform ? k : mixed(k + 1, static_cast<uint64_t>(lane)));
    return t;
  });
}

void TermsOfCluster::on(const Executed& e) {
  if (!all_.watched_[e.origin.pc]) return;
  const MicroOp& op = op_at(e.origin);
  if (op.effect == nullptr) return;
  if (const auto* s = std::get_if<isa::Shuffle>(op.effect)) return shuffle(e.origin, *s);
  const isa::Footprint& f = all_.run_.program->footprint(op);
  if (is_opaque(f) && !std::holds_alternative<isa::Load>(*op.effect))
    set_results(e.origin, [&](int, uint64_t) { return unknown(e.origin.pc); });
}

void TermsOfCluster::on(const CtaBarrierEvent& e) {
  const uint64_t threads = all_.run_.launch->block.count();
  if (e.threads != 0 && e.threads != threads) return;
  if (e.step == CtaBarrierEvent::Step::pass) {
    for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1)
      ++warp_of(e.origin).barriers[static_cast<size_t>(std::countr_zero(m))];
    return;
  }
  const auto* const barrier =
      e.origin.effect == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(e.origin.effect);
  if (barrier != nullptr && barrier->action != isa::BarrierAction::arrive) return;
  const std::lock_guard lock(all_.mutex_);
  all_.rounds_ = false;  // it does not wait: threads count other barriers
}

}  // namespace palladion::sim::check
