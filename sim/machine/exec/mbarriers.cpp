// mbarriers: the operations on their eight bytes, and the instructions.
#include <fmt/format.h>

#include <algorithm>

#include "sim/machine/exec/handlers.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {
namespace {
uint8_t* barrier_bytes(ClusterState& cluster, uint64_t address, std::string* why) {
  const auto a = static_cast<uint32_t>(address);
  const uint32_t rank = a >> cta_rank_shift, offset = a & shared_offset_mask;
  if (rank >= cluster.ctas.size() || offset + 8 > cluster.ctas[rank].shared.size()) {
    *why = fmt::format("mbarrier at shared address 0x{:x} is outside the cluster's shared memory", a);
    return nullptr;
  }
  if (offset % 8 != 0) {
    *why = fmt::format("mbarrier at shared address 0x{:x} is not aligned to 8 bytes", offset);
    return nullptr;
  }
  return cluster.ctas[rank].shared.data() + offset;
}

bool update(const ClusterRun& run, const Origin& origin, MbarrierEvent event, std::string* why, auto change) {
  ClusterState& cluster = run.cluster;
  const uint32_t address = event.address;
  uint8_t* bytes = barrier_bytes(cluster, address, why);
  if (bytes == nullptr) return false;
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  MbarrierState s = MbarrierState::decode(word);
  event.origin = origin;
  event.before = word;
  event.lanes = origin.lanes;
  event.async_id = cluster.acting;
  if (!s.valid) {
    *why = fmt::format("mbarrier at shared address 0x{:x} is not initialised", address & shared_offset_mask);
    event.after = word;
    run.emit(event);
    return false;
  }
  if (!change(s)) return false;
  event.completed = s.complete_if_done();
  word = s.encode();
  std::memcpy(bytes, &word, 8);
  ++cluster.progress;
  event.after = word;
  run.emit(event);
  return true;
}

bool add_tx(MbarrierState& s, int64_t delta, std::string* why) {
  const int64_t tx = int64_t{s.tx} + delta;
  if (tx > MbarrierState::max_tx || tx < -MbarrierState::max_tx) {
    *why = fmt::format("the mbarrier's transaction count {} leaves its range of +-{}", tx,
                       MbarrierState::max_tx);
    return false;
  }
  s.tx = static_cast<int32_t>(tx);
  return true;
}
}  // namespace

bool mbarrier_arrive(const ClusterRun& run, const Origin& origin, uint64_t address, uint32_t count,
                     int32_t expect_tx, std::string* why) {
  MbarrierEvent event;
  event.action = count == 0 ? isa::MbarrierAction::expect_tx : isa::MbarrierAction::arrive;
  event.address = static_cast<uint32_t>(address);
  event.count = count;
  event.tx = expect_tx;
  return update(run, origin, event, why, [&](MbarrierState& s) {
    if (!add_tx(s, expect_tx, why)) return false;
    if (count > s.pending) {
      *why = fmt::format("{} arrivals on an mbarrier that expects only {} more in this phase (of {})", count,
                         s.pending, s.expected);
      return false;
    }
    s.pending -= count;
    return true;
  });
}

bool mbarrier_complete_tx(const ClusterRun& run, const Origin& origin, uint64_t address, uint32_t bytes,
                          std::string* why) {
  MbarrierEvent event;
  event.action = isa::MbarrierAction::complete_tx;
  event.address = static_cast<uint32_t>(address);
  event.tx = -int64_t{bytes};
  return update(run, origin, event, why, [&](MbarrierState& s) { return add_tx(s, -int64_t{bytes}, why); });
}

namespace {

uint8_t* mbarrier_word(Exec& x, const isa::Mbarrier& e, uint64_t address) {
  if (address % 8 != 0) {
    x.fault(Code::misaligned_mbarrier,
            fmt::format("mbarrier at address 0x{:x}: must be aligned to 8 bytes", address));
    return nullptr;
  }
  if (e.space == isa::Space::generic && space_of(address) != isa::Space::shared_cluster) {
    x.fault(Code::mbarrier_space,
            fmt::format("mbarrier at generic address 0x{:x}: not in shared memory", address));
    return nullptr;
  }
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
      return x.fault(Code::mbarrier_init_count,
                     fmt::format("mbarrier.init with a count of {}: must be 1 to {}", count, most));
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
    std::string why;
    bool ok = true;
    if (e.action == A::complete_tx) {
      ok = mbarrier_complete_tx(x, x.origin(1U << i), address, static_cast<uint32_t>(n), &why);
    } else {
      if (e.drop) {
        MbarrierState s = state_at(bytes);
        if (s.expected == 0)
          return x.fault(Code::arrive_drop_at_zero,
                         "mbarrier.arrive_drop on an mbarrier that expects no arrivals");
        s.expected -= is_tx || e.expect_tx ? 1 : static_cast<uint32_t>(n);
        put_state(bytes, s);
      }
      const bool tx = is_tx || e.expect_tx;
      ok = mbarrier_arrive(x, x.origin(1U << i), address,
                           e.action == A::expect_tx ? 0
                           : tx                     ? 1
                                                    : static_cast<uint32_t>(n),
                           tx ? static_cast<int32_t>(n) : 0, &why);
    }
    if (!ok)
      return x.fault(
          Code::mbarrier_range, why,
          e.action == A::arrive
              ? "fewer threads arrive, or mbarrier.init counts all of them; an arrival too many may also "
                "be one of a round before, whose thread was not waited for"
              : "every phase needs exactly as many bytes as it expects");
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
    event.address = static_cast<uint32_t>(key(first) >> 1);
    for (uint32_t m = left; m != 0; m &= m - 1)
      event.lanes |= static_cast<uint32_t>(key(std::countr_zero(m)) == key(first)) << std::countr_zero(m);
    left &= ~event.lanes;
    event.before = event.after = word_at(x.cluster.ctas[event.address >> cta_rank_shift].shared.data() +
                                         (event.address & shared_offset_mask));
    event.parity_known = e.parity;
    event.parity = (key(first) & 1) != 0;
    event.succeeded = (done >> first & 1) != 0;
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

Step test(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  uint32_t done = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    const uint8_t* bytes = mbarrier_word(x, e, address);
    if (bytes == nullptr) return Step::fault;
    const MbarrierState s = state_at(bytes);
    if (!s.valid && x.wants<MbarrierEvent>()) notify_wait(x, op, e, 0);
    if (!s.valid)
      return x.fault(Code::mbarrier_not_initialised,
                     fmt::format("wait on an mbarrier that is not initialised (shared address 0x{:x})",
                                 address & shared_offset_mask),
                     "mbarrier.init must run first, and be made visible: fence.mbarrier_init or a barrier");
    done |= static_cast<uint32_t>(s.parity != (awaited_parity(x, e, op, i) != 0)) << i;
  }
  const bool blocking = e.action == isa::MbarrierAction::try_wait;
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
      return test(x, op, e);
    case A::pending_count:
      return pending_count(x, op, e);
  }
  return Step::next;
}

}  // namespace palladion::sim
