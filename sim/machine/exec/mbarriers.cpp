// mbarriers: the operations on their eight bytes, and the instructions.
#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {
Object mbarrier_at(uint64_t address) {
  Object out{.kind = Object::Kind::mbarrier};
  const uint64_t offset = address & shared_offset_mask;
  out.ranges = {{offset, offset + sizeof(uint64_t)}};
  return out;
}

namespace {
uint8_t* barrier_bytes(ClusterState& cluster, uint64_t address, Statement* why) {
  const auto a = static_cast<uint32_t>(address);
  const uint32_t rank = a >> cta_rank_shift, offset = a & shared_offset_mask;
  if (rank >= cluster.ctas.size() || offset + 8 > cluster.ctas[rank].shared.size()) {
    *why = say<Phrase::mbarrier_outside_cluster>(a);
    return nullptr;
  }
  if (offset % 8 != 0) {
    *why = say<Phrase::mbarrier_not_aligned>(mbarrier_at(offset));
    return nullptr;
  }
  return cluster.ctas[rank].shared.data() + offset;
}

Statement why_refused(MbarrierState::Refusal refusal, const MbarrierState& s, const MbarrierEvent& event) {
  if (refusal == MbarrierState::Refusal::tx_range)
    return say<Phrase::bytes_beyond_range>(s.tx + event.tx, MbarrierState::max_tx);
  return say<Phrase::arrivals_beyond_phase>(event.count, s.pending, s.expected);
}

void announce(const ClusterRun& run, const Origin& origin, MbarrierEvent event) {
  if (!run.wants<MbarrierEvent>()) return;
  int64_t& current = run.cluster.mbarrier_phases[event.address];
  event.phase = current;
  if (event.completed) ++current;
  event.origin = origin;
  event.lanes = origin.lanes;
  event.async_id = run.cluster.acting;
  run.emit(event);
}

// `event` says what signals, and where.
bool signal(const ClusterRun& run, const Origin& origin, MbarrierEvent event, Statement* why) {
  uint8_t* bytes = barrier_bytes(run.cluster, event.address, why);
  if (bytes == nullptr) return false;
  std::memcpy(&event.before, bytes, 8);
  MbarrierState s = MbarrierState::decode(event.before);
  if (!s.valid) {
    *why = say<Phrase::mbarrier_not_initialised>(mbarrier_at(event.address));
    event.after = event.before;
    announce(run, origin, event);
    return false;
  }
  if (const auto refusal = s.signal(event.count, event.tx); refusal != MbarrierState::Refusal::none) {
    *why = why_refused(refusal, s, event);
    return false;
  }
  event.completed = s.complete_if_done();
  event.after = s.encode();
  std::memcpy(bytes, &event.after, 8);
  ++run.cluster.progress;
  ++run.cluster.inner_changes;
  announce(run, origin, event);
  return true;
}
}  // namespace

bool mbarrier_arrive(const ClusterRun& run, const Origin& origin, SharedAddress address, uint32_t count,
                     int32_t expect_tx, Statement* why) {
  using A = isa::MbarrierAction;
  return signal(
      run, origin,
      {.action = count == 0 ? A::expect_tx : A::arrive, .address = address, .count = count, .tx = expect_tx},
      why);
}

bool mbarrier_complete_tx(const ClusterRun& run, const Origin& origin, SharedAddress address, uint32_t bytes,
                          Statement* why) {
  return signal(run, origin,
                {.action = isa::MbarrierAction::complete_tx, .address = address, .tx = -int64_t{bytes}}, why);
}

namespace {

uint8_t* mbarrier_word(Exec& x, const isa::Mbarrier& e, uint64_t address) {
  if (address % 8 != 0) {
    x.fault(Code::misaligned_mbarrier, say<Phrase::misaligned_object>("mbarrier", address, 8));
    return nullptr;
  }
  if (e.space == isa::Space::generic && space_of(address) != isa::Space::shared_cluster) {
    x.fault(Code::mbarrier_space, say<Phrase::mbarrier_outside_shared>(address));
    return nullptr;
  }
  using A = isa::MbarrierAction;  // arrivals alone may be those of another CTA
  const bool arrives = e.action == A::arrive || e.action == A::expect_tx || e.action == A::complete_tx;
  if (!x.own(arrives ? e.space : isa::Space::shared_cta, address, "mbarrier access")) return nullptr;
  return x.shared(address, 8, "mbarrier access");
}

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}
MbarrierState state_at(const uint8_t* bytes) { return MbarrierState::decode(word_at(bytes)); }

// mbarrier.init and mbarrier.inval.
void notify_life(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane, uint32_t count,
                 uint64_t before, uint64_t after) {
  if (!x.wants<MbarrierEvent>()) return;
  MbarrierEvent event;
  event.action = e.action;
  event.address = Exec::shared_address(x.address_of_lane(op.operands[e.address], lane));
  event.lanes = 1U << lane;
  event.count = count;
  event.before = before;
  event.after = after;
  int64_t& current = x.cluster.mbarrier_phases[event.address];
  if (e.action == isa::MbarrierAction::init) current = 0;
  event.phase = current;
  if (e.action == isa::MbarrierAction::inval) x.cluster.mbarrier_phases.erase(event.address);
  event.origin = x.origin(event.lanes);
  x.emit(event);
}

void put_state(uint8_t* bytes, const MbarrierState& s) {
  const uint64_t word = s.encode();
  std::memcpy(bytes, &word, 8);
}

Step init(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t* bytes = mbarrier_word(x, e, x.address_of_lane(op.operands[e.address], i));
    if (bytes == nullptr) return Step::fault;
    const uint64_t count = x.lane_value(op.operands[e.count], i);
    const auto most = static_cast<uint64_t>(x.launch.arch->max_mbarrier_count);
    if (count == 0 || count > most)
      return x.fault(Code::mbarrier_init_count, say<Phrase::init_count_beyond_limits>(count, most));
    const uint64_t before = word_at(bytes);
    MbarrierState s;
    s.pending = s.expected = static_cast<uint32_t>(count);
    s.valid = true;
    put_state(bytes, s);
    notify_life(x, e, op, i, static_cast<uint32_t>(count), before, s.encode());
  }
  x.changed();
  return Step::next;
}

Step invalidate(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t* bytes = mbarrier_word(x, e, x.address_of_lane(op.operands[e.address], i));
    if (bytes == nullptr) return Step::fault;
    const uint64_t before = word_at(bytes);
    std::memset(bytes, 0, 8);
    notify_life(x, e, op, i, 0, before, 0);
  }
  return Step::next;
}

void write_state(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane, uint64_t state) {
  if (e.dst < 0 || op.operands[e.dst].kind != DecodedOperand::Kind::lanes || op.operands[e.dst].width != 64)
    return;
  x.lanes<uint64_t>(op.operands[e.dst])[lane] = state;
}

// arrive, arrive_drop, expect_tx, complete_tx: serialised by lane, as in the hardware.
Step arrive_like(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  using A = isa::MbarrierAction;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    uint8_t* bytes = mbarrier_word(x, e, address);
    if (bytes == nullptr) return Step::fault;
    const uint64_t before = state_at(bytes).encode();
    const uint64_t n = e.count < 0 ? 1 : x.lane_value(op.operands[e.count], i);
    const bool is_tx = e.action != A::arrive;
    Statement why;
    bool ok = true;
    if (e.action == A::complete_tx) {
      ok = mbarrier_complete_tx(x, x.origin(1U << i), SharedAddress(address), static_cast<uint32_t>(n), &why);
    } else {
      if (e.drop) {
        MbarrierState s = state_at(bytes);
        if (s.expected == 0) return x.fault(Code::arrive_drop_at_zero);
        s.expected -= is_tx || e.expect_tx ? 1 : static_cast<uint32_t>(n);
        put_state(bytes, s);
      }
      const bool tx = is_tx || e.expect_tx;
      ok = mbarrier_arrive(x, x.origin(1U << i), SharedAddress(address),
                           e.action == A::expect_tx ? 0
                           : tx                     ? 1
                                                    : static_cast<uint32_t>(n),
                           tx ? static_cast<int32_t>(n) : 0, &why);
    }
    if (!ok)
      return x.fault(
          Code::mbarrier_range, std::move(why),
          e.action == A::arrive ? say<Phrase::count_all_arrivals>() : say<Phrase::bytes_as_expected>());
    write_state(x, e, op, i, before);
  }
  return Step::next;
}

// The parity that must have completed before the waiter may continue, from a parity or a state token.
uint64_t awaited_parity(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane) {
  const uint64_t v = x.lane_value(op.operands[e.state], lane);
  return e.parity ? v & 1 : MbarrierState::decode(v).parity;
}

// One event for all lanes that name the same object and parity.
void notify_wait(const Exec& x, const MicroOp& op, const isa::Mbarrier& e, uint32_t done) {
  const auto key = [&](int i) {
    return uint64_t{Exec::shared_address(x.address_of_lane(op.operands[e.address], i))} << 1 |
           awaited_parity(x, e, op, i);
  };
  for (uint32_t left = x.active; left != 0;) {
    const int first = std::countr_zero(left);
    MbarrierEvent event;
    event.action = e.action;
    event.address = SharedAddress(key(first) >> 1);
    for (uint32_t m = left; m != 0; m &= m - 1)
      event.lanes |= static_cast<uint32_t>(key(std::countr_zero(m)) == key(first)) << std::countr_zero(m);
    left &= ~event.lanes;
    event.before = event.after = word_at(x.cluster.ctas[event.address >> cta_rank_shift].shared.data() +
                                         (event.address & shared_offset_mask));
    event.parity_known = e.parity;
    event.parity = (key(first) & 1) != 0;
    event.succeeded = (done >> first & 1) != 0;
    event.phase = x.cluster.mbarrier_phases[event.address] - (event.succeeded ? 1 : 0);
    event.origin = x.origin(event.lanes);
    x.emit(event);
  }
}

// A try_wait may give up after a time that PTX leaves open: here at once, at random. It does so once for each
// group until something has changed, as when nothing else can execute, so that a hang is still recognised.
bool gives_up(const Exec& x) {
  LaneGroup& g = x.self();
  if (x.launch.options.fail_waits == 0 || g.timed_out_at == x.cluster.progress) return false;
  const uint64_t moment = uint64_t{x.cluster.index} << 40 ^ x.cluster.instructions << 8 ^ x.warp->id;
  if (scramble(scramble(x.launch.options.fail_waits) ^ moment) % 2 == 0) return false;
  g.timed_out_at = x.cluster.progress;
  return true;
}

// A try_wait that asks early does not wait where there is no clock: what it asks for can depend on what its
// thread does next. Under `functional` the answer is no, so that what runs is what runs where the question
// comes too early.
uint32_t answer(const Exec& x, uint32_t done) {
  return x.launch.options.schedule.kind == Schedule::Kind::functional ? 0 : done;
}

Step test(Exec& x, const MicroOp& op, const isa::Mbarrier& e, bool early) {
  uint32_t done = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    const uint8_t* bytes = mbarrier_word(x, e, address);
    if (bytes == nullptr) return Step::fault;
    const MbarrierState s = state_at(bytes);
    if (!s.valid && x.wants<MbarrierEvent>()) notify_wait(x, op, e, 0);
    if (!s.valid)
      return x.fault(Code::mbarrier_not_initialised, say<Phrase::wait_not_initialised>(mbarrier_at(address)));
    done |= static_cast<uint32_t>(s.parity != (awaited_parity(x, e, op, i) != 0)) << i;
  }
  const bool asks = early && x.launch.options.schedule.kind != Schedule::Kind::hardware;
  if (asks) done = answer(x, done);
  const bool blocking = e.action == isa::MbarrierAction::try_wait && !asks;
  if (blocking && done == 0 && !x.take_resumed() && !gives_up(x)) {
    const int i = std::countr_zero(x.active);
    return x.wait(Wait::Kind::mbarrier, x.address_of_lane(op.operands[e.address], i),
                  awaited_parity(x, e, op, i));
  }
  x.self().resumed = false;
  if (x.wants<MbarrierEvent>()) notify_wait(x, op, e, done);
  uint32_t& d = x.predicate(op.operands[e.dst]);
  d = (d & ~x.active) | done;
  return done == x.active ? Step::next : Step::yield;
}

Step pending_count(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    x.lanes<uint32_t>(op.operands[e.dst])[i] =
        MbarrierState::decode(x.lane_value(op.operands[e.state], i)).pending;
  }
  return Step::next;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  using A = isa::MbarrierAction;
  switch (e.action) {
    case A::init:
      return init(x, op, e);
    case A::inval:
      return invalidate(x, op, e);
    case A::expect_tx:
    case A::complete_tx:
    case A::arrive:
      return arrive_like(x, op, e);
    case A::test_wait:
    case A::try_wait:
      return test(x, op, e, false);
    case A::pending_count:
      return pending_count(x, op, e);
  }
  return Step::next;
}

Step exec_early_wait(Exec& x, const MicroOp& op, const isa::Mbarrier& e) { return test(x, op, e, true); }

}  // namespace palladion::sim
