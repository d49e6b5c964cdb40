#include "frontend/core/meetings.h"

#include <algorithm>

#include "isa/core/effects.h"
#include "isa/core/op.h"

namespace palladion::frontend {

namespace {

constexpr uint64_t comes = 1, accessed = 2, others_arrive = 4;
constexpr size_t first_barrier_bit = 3, last_barrier_bit = 63;  // all further arrays share the last

bool compare(std::string_view how, int64_t a, int64_t b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}

}  // namespace

Meetings::Meetings(const isa::DecodeContext& kernel, const std::vector<BarrierUse>& uses, Known known)
    : body_(kernel.function.body),
      labels_(kernel.function.labels),
      uses_(uses),
      known_(std::move(known)),
      at_label_(labels_.size()),
      needed_(body_.size() + 1) {
  for (const isa::Instruction& i : body_) define(i);
  kinds_.reserve(body_.size());
  for (const isa::Instruction& i : body_)
    kinds_.push_back(kind_of(i, isa::footprint(isa::effect(i, kernel))));
  for (size_t l = 0; l < labels_.size(); ++l)
    if (labels_[l].target != isa::no_id) labels_at_.emplace(labels_[l].target, l);
}

void Meetings::define(const isa::Instruction& i) {
  if (i.operands.empty() || !i.operands[0].is(Operand::Kind::reg)) return;
  const isa::Operation op = isa::operation(i);
  const bool known =
      op == isa::Operation::compare || op == isa::Operation::and_ || op == isa::Operation::not_;
  const auto [place, is_new] = predicates_.emplace(i.operands[0].id, known ? &i : nullptr);
  if (!is_new) place->second = nullptr;
}

bool Meetings::defines_predicate(const isa::Instruction& i) const {
  if (i.operands.empty() || !i.operands[0].is(Operand::Kind::reg)) return false;
  const auto at = predicates_.find(i.operands[0].id);
  return at != predicates_.end() && at->second == &i;
}

// A predicate of the lane that issues the copies, whose own accesses are in order with them.
bool Meetings::elects(isa::RegId guard) const {
  if (!known_.elected.is(Operand::Kind::reg)) return false;
  if (guard == known_.elected.id) return true;
  const auto at = predicates_.find(guard);
  return at != predicates_.end() && at->second != nullptr &&
         isa::operation(*at->second) == isa::Operation::and_ &&
         (at->second->operands[1] == known_.elected || at->second->operands[2] == known_.elected);
}

// What the warps do for themselves: copies by an elected lane are in order with the next ones.
Meetings::Kind Meetings::kind_of(const isa::Instruction& i, const isa::Footprint& f) const {
  const bool always = i.guard.reg == isa::no_id;
  if (f.next == isa::Control::branches) return Kind::branch;
  if (f.ends() && always) return Kind::end;
  if (f.at(isa::Sync::Object::cta_barrier) && f.sync.waits && always) return Kind::meeting;
  if (!known_.auto_barriers || elects(i.guard.reg)) return Kind::other;
  if (f.issues()) return f.issues(isa::AsyncFamily::wgmma) ? Kind::access : Kind::other;
  const auto shared_or_global = [](const isa::MemoryUse& use) {
    return use.space != isa::Space::param && use.space != isa::Space::local &&
           use.space != isa::Space::const_;
  };
  return std::ranges::any_of(f.memory, shared_or_global) ? Kind::access : Kind::other;
}

// Whether a condition on the thread's number holds; nothing when it depends on more.
std::optional<bool> Meetings::holds(const Operand& predicate) const {
  const auto at = values_.find(predicate.id);
  if (!predicate.is(Operand::Kind::reg) || at == values_.end()) return {};
  return predicate.negated ? !at->second : at->second;
}

std::optional<bool> Meetings::value_of(const isa::Instruction& i, int64_t thread) const {
  const isa::Operation op = isa::operation(i);
  if (op == isa::Operation::not_) {
    const auto value = holds(i.operands[1]);
    return value ? std::optional(!*value) : std::nullopt;
  }
  if (op == isa::Operation::and_) {
    const auto a = holds(i.operands[1]), b = holds(i.operands[2]);
    if ((a && !*a) || (b && !*b)) return false;
    return a && b ? std::optional(*a && *b) : std::nullopt;
  }
  const Operand *const a = i.operand("a"), *const b = i.operand("b");
  if (a == nullptr || b == nullptr || i.operand("c") != nullptr || !known_.thread.is(Operand::Kind::reg) ||
      *a != known_.thread || !b->is(Operand::Kind::imm))
    return {};
  return compare(i.mod("cmp"), thread, static_cast<int64_t>(b->bits));
}

Meetings::State Meetings::bit_of(const void* barrier) {
  const auto at = std::ranges::find(barriers_, barrier);
  const auto n = static_cast<size_t>(at - barriers_.begin());
  if (at == barriers_.end()) barriers_.push_back(barrier);
  return State{1} << std::min(first_barrier_bit + n, last_barrier_bit);
}

Meetings::State Meetings::note_arrival(const BarrierUse& u, State s) {
  const State shared = State{1} << last_barrier_bit;
  if (u.kind != BarrierUse::Kind::wait) own_ |= bit_of(u.barrier) & ~shared;
  return s;
}

Meetings::State Meetings::use(const BarrierUse& u, State s) {
  const State bit = bit_of(u.barrier);
  if (u.kind == BarrierUse::Kind::arrival) return s;
  if (u.kind == BarrierUse::Kind::wait) return s | bit | ((own_ & bit) != 0 ? 0 : others_arrive);
  if ((s & (bit | accessed | others_arrive)) != 0) needed_[u.index] = true;
  return needed_[u.index] ? comes : s;
}

Meetings::State Meetings::branch(const isa::Instruction& i, State s) {
  const bool always = i.guard.reg == isa::no_id;
  const std::optional<bool> taken =
      always ? std::optional(true) : holds(Operand::reg(i.guard.reg, i.guard.negated));
  if (!taken || *taken) {
    State& there = at_label_[i.operands[0].id];
    changed_ |= (there | s) != there;
    there |= s;
  }
  return taken && *taken ? 0 : s;
}

Meetings::State Meetings::pass(size_t i, State s) {
  switch (kinds_[i]) {
    case Kind::branch:
      return branch(body_[i], s);
    case Kind::end:
      return 0;
    case Kind::meeting:
      return comes;
    case Kind::access:
      return s | accessed;
    case Kind::other:
      return s;
  }
  return s;
}

void Meetings::follow(int64_t thread) {
  values_.clear();
  for (const isa::Instruction& i :
       body_)  // in their order: recursion could be as deep as the program is long
    if (const auto value = defines_predicate(i) ? value_of(i, thread) : std::nullopt)
      values_.emplace(i.operands[0].id, *value);
  own_ = 0;
  flow(&Meetings::note_arrival);
  flow(&Meetings::use);
}

void Meetings::flow(Use what) {
  std::ranges::fill(at_label_, 0);
  do {
    changed_ = false;
    State s = comes;
    auto u = uses_.begin();
    for (size_t i = 0; i < body_.size(); ++i) {
      const auto [first, last] = labels_at_.equal_range(i);
      for (auto l = first; l != last; ++l) s |= at_label_[l->second];
      for (; u != uses_.end() && u->index == i; ++u)
        if (s != 0) s = (this->*what)(*u, s);
      if (s != 0) s = pass(i, s);
    }
  } while (changed_);
}

}  // namespace palladion::frontend
