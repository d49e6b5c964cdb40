#include "sim/explore/cluster_work.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "sim/explore/varying_bits.h"
#include "sim/machine/async/cluster_answer.h"
#include "sim/machine/exec/lane_values.h"

namespace palladion::sim::check {
namespace {

// The operand is a place in GMEM, as far as the text says so.
bool is_global_place(const isa::Footprint& f, int operand) {
  return std::ranges::any_of(f.memory, [&](const isa::MemoryUse& m) {
    return m.address == operand && (m.space == isa::Space::global || m.space == isa::Space::generic);
  });
}

// The element of a vector that is its `result`-th register, counted from 1.
int component_of(const isa::Operand& vector, uint64_t result) {
  for (size_t i = 0; i < vector.elements.size(); ++i)
    if (vector.elements[i].is(isa::Operand::Kind::reg) && --result == 0) return static_cast<int>(i);
  return -1;
}

bool may_hold_numbers(isa::Space space) {
  return is_shared(space) || space == isa::Space::generic || space == isa::Space::local;
}

}  // namespace

int place_in_window(const MicroOp& op) {
  const auto* copy = std::get_if<isa::TensorCopy>(op.effect);
  return copy != nullptr && copy->mode == isa::TensorMode::im2col ? copy->im2col_offsets : -1;
}

void ClusterWork::on(const ClusterBegan&) {
  warps_.resize(cluster_.ctas.size() * run_.launch->warps_per_cta());
  for (Warp& warp : warps_) warp.registers.resize(slice_.tracked());
  const isa::Dim3& first = cluster_.ctas[0].id;
  own_ = number_of(first.x, first.y, first.z);
  work_[own_ - 1];
}

uint32_t ClusterWork::number_of(uint32_t x, uint32_t y, uint32_t z) const {
  const isa::Dim3& grid = run_.launch->grid;
  return 1 + x + grid.x * (y + grid.y * z);
}

uint32_t ClusterWork::line_of(const Origin& origin) {
  return origin.instruction == nullptr ? 0 : origin.instruction->origin.ptx_line;
}

void ClusterWork::stop(const Origin& origin, const char* what) {
  if (!obstacle_.empty()) return;
  obstacle_ = fmt::format("line {}: {}", line_of(origin), what);
}

ClusterWork::Warp& ClusterWork::warp_of(const Origin& origin) {
  return warps_[origin.cta_rank * run_.launch->warps_per_cta() + origin.warp];
}

// Null: the register is not followed.
ClusterWork::Lanes* ClusterWork::tracked(const Origin& origin, uint32_t reg) {
  const uint32_t i = slice_.index_of(reg);
  return i == isa::no_id ? nullptr : &warp_of(origin).registers[i];
}

// --- values -----------------------------------------------------------------------------------------------

const WarpState& ClusterWork::state_of(const Origin& origin) const {
  return cluster_.ctas[origin.cta_rank].warps[origin.warp];
}

uint64_t ClusterWork::bits_of(const Origin& origin, const DecodedOperand& o, int lane) const {
  return value_bits(*run_.program, state_of(origin), o, lane);
}

// Where the grid has one cluster in that dimension, all have the same number there.
bool ClusterWork::varies(int dimension) const {
  const isa::Dim3 &grid = run_.launch->grid, &cluster = run_.launch->cluster;
  return dimension == 0   ? grid.x != cluster.x
         : dimension == 1 ? grid.y != cluster.y
         : dimension == 2 ? grid.z != cluster.z
                          : true;
}

bool ClusterWork::is_number(const isa::Operand& o) const {
  if (!o.is(isa::Operand::Kind::special) || !tells_of_cluster(o.special)) return false;
  const bool one = o.special == isa::Special::ctaid || o.special == isa::Special::clusterid;
  return !one || varies(o.component);
}

Derived ClusterWork::number_in(const Origin& origin, const isa::Operand& o) const {
  if (o.special != isa::Special::ctaid && o.special != isa::Special::clusterid) return unknown_number;
  Mixture m(static_cast<uint64_t>(o.special));
  m.value(static_cast<uint64_t>(o.component));
  m.value(origin.cta_rank);
  m.add({1, own_});
  Derived number = m.derived();
  if (o.special == isa::Special::ctaid) number.vary = vary_in_dimension(o.component);
  return number;
}

// The number of a CTA is a multiple of the cluster's size and a rank.
uint64_t ClusterWork::vary_in_dimension(int dimension) const {
  const isa::Dim3& cluster = run_.launch->cluster;
  const uint32_t size = dimension == 0   ? cluster.x
                        : dimension == 1 ? cluster.y
                        : dimension == 2 ? cluster.z
                                         : 1;
  return ~uint64_t{0} << std::countr_zero(size);
}

void ClusterWork::mix(Mixture& m, const Origin& origin, const isa::Operand& written,
                      const DecodedOperand& decoded, int lane) {
  using Kind = isa::Operand::Kind;
  m.value(static_cast<uint64_t>(written.kind) * 2 + (written.negated ? 1 : 0));
  if (written.is(Kind::address) || written.is(Kind::vector)) {
    m.value(static_cast<uint64_t>(decoded.offset));
    for (size_t i = 0; i < written.elements.size(); ++i) {
      const bool base = written.is(Kind::address) && i == 0;
      const size_t at = written.is(Kind::address) ? i - 1 : i;
      if (base || at >= decoded.elements.size())
        mix(m, origin, written.elements[i], decoded, lane);
      else
        mix(m, origin, written.elements[i], decoded.elements[at], lane);
    }
    return;
  }
  if (is_number(written)) return m.add(number_in(origin, written));
  if (written.is(Kind::reg)) {
    const Lanes* const lanes =
        tracked(origin, run_.program->register_offsets_base[op_at(origin).function] + written.id);
    if (lanes != nullptr && (*lanes)[static_cast<size_t>(lane)].how != 0)
      return m.add((*lanes)[static_cast<size_t>(lane)]);
  }
  m.value(bits_of(origin, decoded, lane));
}

void ClusterWork::mix_operand(Mixture& m, const Origin& origin, int operand, int lane) {
  const MicroOp& op = op_at(origin);
  m.value(static_cast<uint64_t>(operand));
  mix(m, origin, op.instruction->operands[static_cast<size_t>(operand)], op.operands[operand], lane);
}

Derived ClusterWork::operand_of(const Origin& origin, int operand, int lane) {
  const MicroOp& op = op_at(origin);
  const isa::Operand& written = op.instruction->operands[static_cast<size_t>(operand)];
  if (is_number(written)) return number_in(origin, written);
  if (!written.is(isa::Operand::Kind::reg)) return {};
  const Lanes* const lanes = tracked(origin, run_.program->register_offsets_base[op.function] + written.id);
  return lanes == nullptr ? Derived{} : (*lanes)[static_cast<size_t>(lane)];
}

// The operand that the instruction only passes on: of a mov, or of a selp whose predicate is made of no
// number; -1: it computes.
int ClusterWork::passed_on(const Origin& origin, int lane) {
  using Kind = isa::Operand::Kind;
  const MicroOp& op = op_at(origin);
  const auto& operands = op.instruction->operands;
  if (op.instruction->op->name == "mov")
    return operands[0].is(Kind::vector) || operands[1].is(Kind::vector) || operands[1].negated ? -1 : 1;
  if (op.instruction->op->name != "selp" || operand_of(origin, 3, lane).how != 0) return -1;
  return selected_operand(*run_.program, state_of(origin), op, lane);
}

// Of the result of an instruction that reads no memory.
uint64_t ClusterWork::vary_in(const Origin& origin, int lane) {
  const MicroOp& op = op_at(origin);
  const isa::Footprint& f = run_.program->footprint(op);
  if (f.reads_carry || f.writes_carry) return ~uint64_t{0};
  std::array<Bits, 4> operands;  // those that matter have a result and three operands at most
  const size_t count = std::min(operands.size(), op.instruction->operands.size());
  for (size_t k = 0; k < count; ++k) {
    const DecodedOperand& o = op.operands[k];
    const Derived number = operand_of(origin, static_cast<int>(k), lane);
    if (number.how != 0)
      operands[k] = Bits::varying(number.vary);
    else if (o.kind == DecodedOperand::Kind::lanes && !op.instruction->operands[k].negated)
      operands[k] = Bits::constant(bits_of(origin, o, lane));
  }
  return varying_bits(*op.instruction, std::span(operands).first(count));
}

// Of an instruction that reads no memory: its operands are there still.
void ClusterWork::compute(const Origin& origin) {
  const MicroOp& op = op_at(origin);
  const isa::Footprint& f = run_.program->footprint(op);
  const auto carry = static_cast<uint32_t>(register_count(*run_.program) - 1);
  std::array<Mixture, 32> made;
  std::array<int, 32> passed{};
  Mixture all(operation_hash(*op.instruction));
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    passed[static_cast<size_t>(lane)] = passed_on(origin, lane);
    Mixture one(operation_hash(*op.instruction));
    for (size_t k = 0; k < op.instruction->operands.size(); ++k)
      if (op.instruction->form->operands[k].reads) mix_operand(one, origin, static_cast<int>(k), lane);
    const Lanes* const flag = f.reads_carry ? tracked(origin, carry) : nullptr;
    if (flag != nullptr && (*flag)[static_cast<size_t>(lane)].how != 0)
      one.add((*flag)[static_cast<size_t>(lane)]);
    made[static_cast<size_t>(lane)] = one;
    all.value(one.hash());
    if (one.derived().how != 0) all.add(one.derived());
  }
  // Predicates of other warps are part of it.
  if (f.at(isa::Sync::Object::cta_barrier))
    return set_results(origin, origin.lanes, [](int, uint64_t) { return unknown_number; });
  const bool crosses = crosses_lanes(f);
  std::array<Derived, 32> copies{};
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m), from = passed[static_cast<size_t>(lane)];
    if (from >= 0) copies[static_cast<size_t>(lane)] = operand_of(origin, from, lane);
  }
  set_results(origin, origin.lanes, [&](int lane, uint64_t result) {
    if (passed[static_cast<size_t>(lane)] >= 0) return copies[static_cast<size_t>(lane)];
    const Derived value = (crosses ? all : made[static_cast<size_t>(lane)]).derived();
    if (value.how == 0) return value;
    const uint64_t vary = crosses ? ~uint64_t{0} : vary_in(origin, lane);
    if (vary == 0) return Derived{};
    Mixture m(value.how);
    m.value(result);
    if (crosses) m.value(static_cast<uint64_t>(lane));
    return Derived{m.hash() | 1, value.of, vary};
  });
}

void ClusterWork::query(const Origin& origin, const isa::QueryCancel& e) {
  const MicroOp& op = op_at(origin);
  Warp& warp = warp_of(origin);
  const auto& state = cluster_.ctas[origin.cta_rank].warps[origin.warp];
  Lanes numbers{};
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    ClusterAnswer answer{};
    std::memcpy(&answer, state.registers.data() + op.operands[e.response].slot.offset + lane * sizeof answer,
                sizeof answer);
    const uint32_t number = number_of(answer.x, answer.y, answer.z);
    if (e.canceled >= 0) {
      const uint64_t shown = answer.given != 0 ? uint64_t{number} + 1 : 1;
      warp.seen[lane] += warp.last[lane] != shown ? 1 : 0;
      warp.last[lane] = shown;
    }
    if (answer.given != 0) work_[number - 1];
    numbers[lane] = answer.given == 0 ? unknown_number : Derived{1, number};
  }
  set_results(origin, origin.lanes, [&](int lane, uint64_t result) {
    if (e.canceled >= 0) return Derived{};
    Mixture m(0x636c63 + static_cast<uint64_t>(e.dimension + 1) * 8 + (e.dimension < 0 ? result : 0));
    m.value(origin.cta_rank);
    m.add(numbers[static_cast<size_t>(lane)]);
    Derived number = m.derived();
    number.vary =
        vary_in_dimension(e.dimension >= 0 ? e.dimension : component_of(op.instruction->operands[0], result));
    return number;
  });
}

// --- what depends on them ---------------------------------------------------------------------------------

// A decision that came out so. It does wherever the same is computed of the same number.
void ClusterWork::pin(const Origin& origin, int what, const Derived& value, uint64_t outcome) {
  if (value.of == Derived::several)
    return stop(origin,
                "what is executed depends on the numbers of several clusters, or on an undecoded answer");
  Mixture m(operation_hash(*op_at(origin).instruction));
  m.value(static_cast<uint64_t>(what));
  m.value(value.how);
  m.value(outcome);
  work_[value.of - 1].facts.insert(m.hash());
}

uint64_t ClusterWork::outcome(const Origin& origin, const isa::Operand& written,
                              const DecodedOperand& decoded, int lane) const {
  using Kind = isa::Operand::Kind;
  if (!written.is(Kind::address) && !written.is(Kind::vector)) return bits_of(origin, decoded, lane);
  uint64_t all = bits_of(origin, decoded, lane);
  for (const DecodedOperand& e : decoded.elements) all = scramble(all ^ scramble(bits_of(origin, e, lane)));
  return all;
}

// The operand decides what happens.
void ClusterWork::pin_operand(const Origin& origin, int operand, int lane) {
  const MicroOp& op = op_at(origin);
  const auto at = static_cast<size_t>(operand);
  Mixture mixture;
  mix_operand(mixture, origin, operand, lane);
  if (const Derived value = mixture.derived(); value.how != 0)
    pin(origin, operand, value, outcome(origin, op.instruction->operands[at], op.operands[at], lane));
}

// The guard decides whether the instruction is executed.
void ClusterWork::on(const Reached& e) {
  if (!slice_.watches(e.origin.pc)) return;
  const MicroOp& op = op_at(e.origin);
  const uint32_t base = run_.program->register_offsets_base[op.function];
  const Lanes* const guard = tracked(e.origin, base + op.instruction->guard.reg);
  if (guard == nullptr) return;
  uint32_t mask = 0;
  const auto& warp = cluster_.ctas[e.origin.cta_rank].warps[e.origin.warp];
  std::memcpy(&mask, warp.registers.data() + op.guard, sizeof mask);
  for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    if ((*guard)[lane].how != 0) pin(e.origin, -1, (*guard)[lane], mask >> lane & 1);
  }
}

void ClusterWork::on(const Executing& e) {
  accessed_ = false;
  if (e.origin.effect == nullptr) return;
  if (const auto* query_of = std::get_if<isa::QueryCancel>(e.origin.effect))
    return query(e.origin, *query_of);
  if (!slice_.watches(e.origin.pc)) return;
  const MicroOp& op = op_at(e.origin);
  const isa::Footprint& f = run_.program->footprint(op);
  const auto& forms = op.instruction->form->operands;
  for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
    const auto operand = static_cast<int>(k);
    const bool address = op.instruction->operands[k].is(isa::Operand::Kind::address);
    const bool decides =
        address || f.control.has(operand) || (f.next == isa::Control::calls && forms[k].reads);
    // A place in GMEM is judged with the access.
    if (!decides || f.hint || is_global_place(f, operand) || operand == place_in_window(op)) continue;
    for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1) pin_operand(e.origin, operand, std::countr_zero(m));
  }
  if (f.next == isa::Control::calls)
    set_results(e.origin, e.origin.lanes, [](int, uint64_t) { return unknown_number; });
  else if (f.read() == nullptr)
    compute(e.origin);
}

// What was read of memory is known since Access.
void ClusterWork::on(const Executed& e) {
  if (e.origin.effect == nullptr || !slice_.watches(e.origin.pc)) return;
  const isa::Footprint& f = run_.program->footprint(op_at(e.origin));
  if (f.read() == nullptr || accessed_ || f.next == isa::Control::calls) return;
  const bool unseen = std::ranges::any_of(
      f.memory, [](const isa::MemoryUse& m) { return m.reads && may_hold_numbers(m.space); });
  set_results(e.origin, e.origin.lanes, [&](int, uint64_t) { return unseen ? unknown_number : Derived{}; });
}

}  // namespace palladion::sim::check
