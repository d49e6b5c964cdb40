// What the lanes of a warp do together: shuffles, votes, matches, reductions, election.
#include <immintrin.h>

#include "isa/num/arith.h"
#include "isa/num/order.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/lane_writes.h"
#include "sim/machine/exec/shuffle_sources.h"

namespace palladion::sim {
namespace {

// The member masks that the lanes of a group passed. Lanes with different masks form teams of their
// own, although they execute the instruction together.
class Members {
 public:
  Members(const Exec& x, const DecodedOperand& o) : masks_(x.lanes<uint32_t>(o)), active_(x.active) {
    const uint32_t first = masks_[std::countr_zero(active_)];
    for (uint32_t m = active_; m != 0 && !o.slot.constant; m &= m - 1)
      uniform_ &= masks_[std::countr_zero(m)] == first;
    if (uniform_) {
      all_ = first;
      outside_ = active_ & ~first;
      return;
    }
    for (uint32_t m = active_; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      all_ |= masks_[i];
      if ((masks_[i] >> i & 1) == 0) outside_ |= 1U << i;
    }
  }

  uint32_t all() const { return all_; }
  uint32_t outside() const { return outside_; }  // lanes that are not in their own mask
  Statement mistake() const {                    // where there are some
    if (uniform_) return say<Phrase::mask_leaves_out>(all_, outside_);
    const int first = std::countr_zero(outside_);
    return say<Phrase::masks_leave_out>(outside_, first, masks_[first]);
  }

  // Calls team(lanes) for each set of lanes with the same mask.
  template <class Team>
  void for_each_team(Team&& team) const {
    if (uniform_) return team(active_ & all_);
    for (uint32_t left = active_; left != 0;) {
      const uint32_t mask = masks_[std::countr_zero(left)];
      uint32_t same = 0;
      for (uint32_t m = left; m != 0; m &= m - 1)
        same |= static_cast<uint32_t>(masks_[std::countr_zero(m)] == mask) << std::countr_zero(m);
      team(same);
      left &= ~same;
    }
  }

 private:
  const uint32_t* masks_;
  uint32_t active_, all_ = 0, outside_ = 0;
  bool uniform_ = true;
};

// Step::next when the instruction can be performed; else it waits or faults.
Step gather_members(Exec& x, const Members& members) {
  if (members.outside() != 0) return x.fault(Code::member_mask, members.mistake());
  if (x.converged(members.all())) return Step::next;
  x.wait(Wait::Kind::convergence, x.missing(members.all()));
  // Lanes may wait at another copy of the same instruction (compilers duplicate code): run_warp joins
  // the groups whose waits carry the same mark.
  const MicroOp& op = x.op_at(x.pc);
  if (op.guard < 0) x.self().wait.value = reinterpret_cast<uintptr_t>(op.instruction->form);
  return Step::block;
}

void write_all(const Exec& x, const DecodedOperand& d, uint32_t value, uint32_t mask) {
  auto* out = x.lanes<uint32_t>(d);
  for (uint32_t m = mask; m != 0; m &= m - 1) out[std::countr_zero(m)] = value;
}

void write_predicate(const Exec& x, const DecodedOperand& d, uint32_t value, uint32_t mask) {
  uint32_t& p = x.predicate(d);
  p = (p & ~mask) | (value & mask);
}

// --- shfl -----------------------------------------------------------------------------------------
// The lane that each lane reads, and whether it is in range (PTX, "shfl.sync", pseudocode).
template <isa::ShuffleMode mode>
uint32_t sources(const uint32_t* b, const uint32_t* c, int32_t* from) {
  alignas(32) int32_t ok[warp_size];
  for (int32_t lane = 0; lane < warp_size; ++lane) {
    const auto distance = static_cast<int32_t>(b[lane] & 31), clamp = static_cast<int32_t>(c[lane] & 31);
    const auto segment = static_cast<int32_t>(c[lane] >> 8 & 31);
    const int32_t last = (lane & segment) | (clamp & ~segment);
    int32_t j = 0;
    bool in_range = false;
    if constexpr (mode == isa::ShuffleMode::up) in_range = (j = lane - distance) >= last;
    if constexpr (mode == isa::ShuffleMode::down) in_range = (j = lane + distance) <= last;
    if constexpr (mode == isa::ShuffleMode::bfly) in_range = (j = lane ^ distance) <= last;
    if constexpr (mode == isa::ShuffleMode::idx)
      in_range = (j = (lane & segment) | (distance & ~segment)) <= last;
    from[lane] = in_range ? j : lane;
    ok[lane] = in_range ? -1 : 0;
  }
  uint32_t mask = 0;
  for (int i = 0; i < 4; ++i)
    mask |=
        static_cast<uint32_t>(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(ok + 8 * i))))
        << 8 * i;
  return mask;
}

// A lane that does not execute the instruction gives 0, as on an H100: it has exited, never existed, or is
// elsewhere. One that does gives its value, also outside of the member mask. PTX leaves both undefined.
void take_values(const uint32_t* value, const int32_t* from, uint32_t active, uint32_t* result) {
  alignas(32) uint32_t there[warp_size];
  for (int i = 0; i < warp_size; ++i) there[i] = (active >> i & 1) != 0 ? value[i] : 0;
  for (int i = 0; i < warp_size; i += 8) {
    const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i v = _mm256_i32gather_epi32(reinterpret_cast<const int*>(there), index, 4);
    _mm256_store_si256(reinterpret_cast<__m256i*>(result + i), v);
  }
}

}  // namespace

uint32_t shuffle_sources(isa::ShuffleMode mode, const uint32_t* lane, const uint32_t* clamp, int32_t* from) {
  switch (mode) {
    case isa::ShuffleMode::up:
      return sources<isa::ShuffleMode::up>(lane, clamp, from);
    case isa::ShuffleMode::down:
      return sources<isa::ShuffleMode::down>(lane, clamp, from);
    case isa::ShuffleMode::bfly:
      return sources<isa::ShuffleMode::bfly>(lane, clamp, from);
    case isa::ShuffleMode::idx:
      return sources<isa::ShuffleMode::idx>(lane, clamp, from);
  }
  return 0;
}

Step exec(Exec& x, const MicroOp& op, const isa::Shuffle& e) {
  if (const Step s = gather_members(x, Members(x, op.operands[e.members])); s != Step::next) return s;
  alignas(32) int32_t from[warp_size];
  const uint32_t in_range = shuffle_sources(e.mode, x.lanes<uint32_t>(op.operands[e.lane]),
                                            x.lanes<uint32_t>(op.operands[e.clamp]), from);
  alignas(32) uint32_t result[warp_size];
  take_values(x.lanes<uint32_t>(op.operands[e.value]), from, x.active, result);
  if (e.dst >= 0) write_lanes(x, op.operands[e.dst], result, x.active);
  if (e.in_range >= 0) write_predicate(x, op.operands[e.in_range], in_range, x.active);
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::Vote& e) {
  const Members members(x, op.operands[e.members]);
  if (const Step s = gather_members(x, members); s != Step::next) return s;
  const uint32_t votes = x.predicate_value(op.operands[e.pred]);
  const DecodedOperand& d = op.operands[e.dst];
  members.for_each_team([&](uint32_t team) {
    const uint32_t yes = votes & team;
    switch (e.mode) {
      case isa::VoteMode::all:
        return write_predicate(x, d, yes == team ? team : 0, team);
      case isa::VoteMode::any:
        return write_predicate(x, d, yes != 0 ? team : 0, team);
      case isa::VoteMode::uni:
        return write_predicate(x, d, yes == team || yes == 0 ? team : 0, team);
      case isa::VoteMode::ballot:
        return write_all(x, d, yes, team);
    }
  });
  return Step::next;
}

// --- match ----------------------------------------------------------------------------------------
namespace {

uint32_t equal_lanes(const Exec& x, const DecodedOperand& o, uint32_t lanes, uint64_t value) {
  uint32_t same = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    same |= static_cast<uint32_t>(x.lane_value(o, i) == value) << i;
  }
  return same;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Match& e) {
  const Members members(x, op.operands[e.members]);
  if (const Step s = gather_members(x, members); s != Step::next) return s;
  const DecodedOperand& value = op.operands[e.value];
  uint32_t result[warp_size];
  uint32_t agree = 0;
  members.for_each_team([&](uint32_t team) {
    for (uint32_t left = team; left != 0;) {
      const uint32_t same = equal_lanes(x, value, left, x.lane_value(value, std::countr_zero(left)));
      const bool whole = same == team;
      if (whole) agree |= team;
      for (uint32_t m = same; m != 0; m &= m - 1) result[std::countr_zero(m)] = !e.all || whole ? same : 0;
      left &= ~same;
    }
  });
  if (e.dst >= 0) write_lanes(x, op.operands[e.dst], result, x.active);
  if (e.pred >= 0) write_predicate(x, op.operands[e.pred], agree, x.active);
  return Step::next;
}

// --- redux ----------------------------------------------------------------------------------------
namespace {

template <class F>
uint32_t fold(const uint32_t* v, uint32_t team, F f) {
  uint32_t r = v[std::countr_zero(team)];
  for (uint32_t m = team & (team - 1); m != 0; m &= m - 1) r = f(r, v[std::countr_zero(m)]);
  return r;
}

uint32_t reduce(isa::ReduxOp op, bool is_signed, const uint32_t* v, uint32_t team) {
  // Flipping the sign bit turns the order of signed numbers into that of unsigned ones.
  const uint32_t bias = is_signed ? 0x8000'0000U : 0;
  switch (op) {
    case isa::ReduxOp::add:
      return fold(v, team, [](uint32_t a, uint32_t b) { return a + b; });
    case isa::ReduxOp::and_:
      return fold(v, team, [](uint32_t a, uint32_t b) { return a & b; });
    case isa::ReduxOp::or_:
      return fold(v, team, [](uint32_t a, uint32_t b) { return a | b; });
    case isa::ReduxOp::xor_:
      return fold(v, team, [](uint32_t a, uint32_t b) { return a ^ b; });
    case isa::ReduxOp::min:
      return fold(v, team, [=](uint32_t a, uint32_t b) { return (a ^ bias) < (b ^ bias) ? a : b; });
    case isa::ReduxOp::max:
      return fold(v, team, [=](uint32_t a, uint32_t b) { return (a ^ bias) > (b ^ bias) ? a : b; });
  }
  return 0;
}

// -0 is below +0; without .NaN only numbers count, and the result of none is the canonical NaN.
uint32_t reduce_f32(const isa::Redux& e, const uint32_t* v, uint32_t team) {
  using isa::num::F32;
  const uint32_t kept = e.abs ? F32::magnitude_mask : ~0U;
  const auto of = [&]<isa::num::MinMaxMods M>() {
    const bool is_max = e.op == isa::ReduxOp::max;
    const uint32_t first = v[std::countr_zero(team)] & kept;
    uint32_t r = isa::num::max<F32, M>(first, first);
    for (uint32_t m = team & (team - 1); m != 0; m &= m - 1) {
      const uint32_t next = v[std::countr_zero(m)] & kept;
      r = is_max ? isa::num::max<F32, M>(r, next) : isa::num::min<F32, M>(r, next);
    }
    return r;
  };
  return e.nan ? of.template operator()<isa::num::MinMaxMods{.nan = true}>()
               : of.template operator()<isa::num::MinMaxMods{}>();
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Redux& e) {
  const Members members(x, op.operands[e.members]);
  if (const Step s = gather_members(x, members); s != Step::next) return s;
  const auto* value = x.lanes<uint32_t>(op.operands[e.value]);
  members.for_each_team([&](uint32_t team) {
    const uint32_t result = isa::is_float(e.type) ? reduce_f32(e, value, team)
                                                  : reduce(e.op, isa::is_signed(e.type), value, team);
    if (e.dst >= 0) write_all(x, op.operands[e.dst], result, team);
  });
  return Step::next;
}

// The lowest member is elected, as on an H200, or one that the run's seed chooses: the same one for the same
// members every time, as PTX says ("the election of a leader thread happens deterministically").
uint32_t leader_of(const Exec& x, uint32_t team) {
  const int n = std::popcount(team);
  if (x.launch.options.elect == 0 || n == 1) return static_cast<uint32_t>(std::countr_zero(team));
  uint64_t skip = 1 + scramble(scramble(x.launch.options.elect) ^ team) % static_cast<uint64_t>(n - 1);
  for (; skip != 0; --skip) team &= team - 1;
  return static_cast<uint32_t>(std::countr_zero(team));
}

Step exec(Exec& x, const MicroOp& op, const isa::Elect& e) {
  const Members members(x, op.operands[e.members]);
  if (const Step s = gather_members(x, members); s != Step::next) return s;
  members.for_each_team([&](uint32_t team) {
    const uint32_t leader = leader_of(x, team);
    if (e.dst >= 0) write_all(x, op.operands[e.dst], leader, team);
    if (e.pred >= 0) write_predicate(x, op.operands[e.pred], 1U << leader, team);
  });
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::ActiveMask& e) {
  write_all(x, op.operands[e.dst], x.active, x.active);
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::WarpSync& e) {
  const Members members(x, op.operands[e.members]);
  const Step step = gather_members(x, members);
  if (step == Step::next && x.wants<WarpSynced>())
    members.for_each_team([&](uint32_t team) { x.emit(WarpSynced{x.origin(team)}); });
  return step;
}

}  // namespace palladion::sim
