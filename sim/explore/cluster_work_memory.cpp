// What depends on numbers of clusters in memory: words of shared memory that hold them, places in GMEM.
#include <algorithm>
#include <bit>

#include "sim/explore/cluster_work.h"
#include "sim/machine/exec/lane_values.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t number_bytes = 4;

bool may_be_global(const isa::MemoryUse& use) {
  return use.address >= 0 && (use.space == isa::Space::global || use.space == isa::Space::generic);
}

// The instruction accesses GMEM in that way, also where all of it lies outside of an array.
bool states_global(const isa::Footprint& f, bool writes) {
  return std::ranges::any_of(f.memory, [&](const isa::MemoryUse& m) {
    return m.space == isa::Space::global && (writes ? m.writes : m.reads);
  });
}

}  // namespace

// --- GMEM -------------------------------------------------------------------------------------------------

// How the place is computed that the lanes access: all operands that say so, in all lanes.
Derived ClusterWork::of_place(const Origin& origin, bool writes, uint32_t lanes) {
  const MicroOp& op = op_at(origin);
  Mixture all(operation_hash(*op.instruction));
  uint64_t seen = 0;
  for (const isa::MemoryUse& use : run_.program->footprint(op).memory) {
    if (!may_be_global(use) || (seen >> use.address & 1) != 0 || (writes ? !use.writes : !use.reads))
      continue;
    seen |= uint64_t{1} << use.address;
    for (uint32_t m = lanes; m != 0; m &= m - 1) mix_operand(all, origin, use.address, std::countr_zero(m));
  }
  if (const int window = place_in_window(op); window >= 0)
    for (uint32_t m = lanes; m != 0; m &= m - 1) mix_operand(all, origin, window, std::countr_zero(m));
  return all.derived();
}

// One place in GMEM, computed so. `bytes`: what an instruction accesses whatever its place is. False: what
// was computed so was written before, so it is the same place.
bool ClusterWork::touch(const Origin& origin, const Derived& how, bool writes, uint64_t bytes) {
  if (how.of == Derived::several)
    stop(origin, "a place in GMEM depends on the numbers of several clusters, or on an undecoded answer");
  else if (how.how == 0 && writes)
    stop(origin, "a place in GMEM that is written depends on no cluster's number");
  if (how.how == 0 || how.of == Derived::several) return true;
  Mixture m(how.how);
  m.value(bytes);
  Work& work = work_[how.of - 1];
  if (!writes) return work.facts.insert(m.hash()).second;
  if (!ways_.insert(scramble(m.hash() ^ how.of)).second) return false;
  work.ways += m.hash();
  return true;
}

void ClusterWork::note(const Range& range, bool writes, const Derived& how) {
  if (writes && how.how != 0 && how.of != Derived::several) {
    Mixture m(range.address);
    m.value(range.bytes);
    work_[how.of - 1].places += m.hash();
  }
  if (!writes) {
    const Allocation* const a = run_.memory->lookup(Address(range.address));
    read_.insert(a == nullptr ? range.address : a->base);
  } else if (!written_.empty() && written_.back().line == range.line &&
             written_.back().address + written_.back().bytes == range.address) {
    written_.back().bytes += range.bytes;
  } else {
    written_.push_back(range);
  }
}

// A generic address of another space decides what happens.
void ClusterWork::pin_place(const Origin& origin, int lane) {
  for (const isa::MemoryUse& use : run_.program->footprint(op_at(origin)).memory)
    if (may_be_global(use)) pin_operand(origin, use.address, lane);
}

// What is not followed further must be the same for all numbers.
void ClusterWork::pin_values(const Origin& origin, int lane) {
  const MicroOp& op = op_at(origin);
  for (size_t k = 0; k < op.instruction->operands.size(); ++k)
    if (op.instruction->form->operands[k].reads &&
        !op.instruction->operands[k].is(isa::Operand::Kind::address))
      pin_operand(origin, static_cast<int>(k), lane);
}

// What a store or an atomic gives to memory.
Derived ClusterWork::stored_by(const Origin& origin, int lane) {
  const MicroOp& op = op_at(origin);
  Mixture value(0);
  for (size_t k = 0; k < op.instruction->operands.size(); ++k)
    if (op.instruction->form->operands[k].reads &&
        !op.instruction->operands[k].is(isa::Operand::Kind::address))
      mix_operand(value, origin, static_cast<int>(k), lane);
  return value.derived();
}

// --- accesses ---------------------------------------------------------------------------------------------

void ClusterWork::on(const Access& a) {
  accessed_ = true;
  if (a.origin.effect == nullptr) return;
  if (a.kind == Access::Kind::read)
    load(a);
  else
    store(a);
}

// Stores and atomics.
void ClusterWork::store(const Access& a) {
  const bool watched = slice_.watches(a.origin.pc), atomic = a.kind == Access::Kind::atomic;
  bool numbers = false;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t address = a.addresses[lane];
    const isa::Space space = space_of(a.space, address);
    if (space == isa::Space::global) {
      if (atomic) return stop(a.origin, "GMEM is modified by an atomic");
      const Derived how = watched ? of_place(a.origin, true, 1U << lane) : Derived{};
      if (touch(a.origin, how, true, a.size)) note({address, a.size, line_of(a.origin)}, true, how);
    } else {
      if (watched) pin_place(a.origin, lane);
      numbers |= store_inside(a, space, address, lane);
    }
  }
  if (atomic && watched)
    set_results(a.origin, a.origin.lanes,
                [&](int, uint64_t) { return numbers ? unknown_number : Derived{}; });
}

// To shared or local memory; whether an atomic found a number there.
bool ClusterWork::store_inside(const Access& a, isa::Space space, uint64_t address, int lane) {
  const Derived stored = slice_.through_memory() ? stored_by(a.origin, lane) : Derived{};
  const bool atomic = a.kind == Access::Kind::atomic;
  // Tiles are stored by all lanes of a warp, atomics are made of what was there, local memory is not
  // followed.
  const bool followed =
      is_shared(space) && !atomic && run_.program->footprint(op_at(a.origin)).values == isa::Values::stored;
  if (stored.how != 0 && !followed) pin_values(a.origin, lane);
  if (!is_shared(space)) return false;
  const uint32_t to = Exec::shared_address(address);
  if (atomic) return holds(to, a.size);
  put(to, a.size, followed ? stored : Derived{});
  return false;
}

void ClusterWork::load(const Access& a) {
  const bool watched = slice_.watches(a.origin.pc);
  std::array<Derived, 32> values{};
  Mixture all(0);
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t address = a.addresses[lane];
    const isa::Space space = space_of(a.space, address);
    if (space == isa::Space::const_ || (space == isa::Space::param && address < local_window)) continue;
    if (space == isa::Space::global) {
      const Derived how = watched ? of_place(a.origin, false, 1U << lane) : Derived{};
      touch(a.origin, how, false, a.size);
      note({address, a.size}, false, how);
      continue;  // what is there is data
    }
    if (watched) pin_place(a.origin, lane);
    if (!is_shared(space)) continue;  // a number that is stored there is the same in all clusters
    values[static_cast<size_t>(lane)] = in_shared(Exec::shared_address(address), a.size);
    all.add(values[static_cast<size_t>(lane)]);
  }
  if (!watched) return;
  // ldmatrix gives a lane what others name.
  const bool lane_wise = run_.program->footprint(op_at(a.origin)).values == isa::Values::loaded;
  const bool some = std::ranges::any_of(values, [](const Derived& d) { return d.how != 0; });
  set_results(a.origin, a.origin.lanes, [&](int lane, uint64_t result) {
    Derived value = values[static_cast<size_t>(lane)];
    if (!lane_wise) value = some ? unknown_number : Derived{};
    if (value.how == 0) return value;
    Mixture m(value.how);
    m.value(result);
    return Derived{m.hash() | 1, value.of};
  });
}

// --- shared memory ----------------------------------------------------------------------------------------

// Of some words: with what the others hold.
Derived ClusterWork::in_shared(uint32_t address, uint64_t bytes) const {
  if (!holds(address, bytes)) return {};
  Mixture m(bytes);
  for (uint64_t at = address / number_bytes * number_bytes; at < address + bytes; at += number_bytes) {
    const auto word = words_.find(static_cast<uint32_t>(at));
    if (word != words_.end()) {
      m.value(address % number_bytes);
      m.add(word->second);
      continue;
    }
    const auto& shared = cluster_.ctas[at >> cta_rank_shift].shared;
    for (uint64_t i = at & shared_offset_mask; i < (at & shared_offset_mask) + number_bytes; ++i)
      m.value(i < shared.size() ? shared.data()[i] : 0);
  }
  return m.derived();
}

bool ClusterWork::holds(uint32_t address, uint64_t bytes) const {
  const auto first = words_.lower_bound(address / number_bytes * number_bytes);
  return first != words_.end() && first->first < address + bytes;
}

// A word of which a part is overwritten keeps what it held.
void ClusterWork::put(uint32_t address, uint64_t bytes, const Derived& value) {
  const uint64_t end = address + bytes;
  if (value.how == 0) {
    const uint32_t first = (address + number_bytes - 1) / number_bytes * number_bytes;
    const auto last = static_cast<uint32_t>(end / number_bytes * number_bytes);
    if (first < last) words_.erase(words_.lower_bound(first), words_.lower_bound(last));
    return;
  }
  for (uint64_t at = address / number_bytes * number_bytes; at < end; at += number_bytes) {
    const bool whole = at >= address && at + number_bytes <= end;
    Mixture m(at - address);
    m.add(value);
    words_[static_cast<uint32_t>(at)] = whole ? m.derived() : unknown_number;
  }
}

// --- asynchronous operations ------------------------------------------------------------------------------

// A thread must have seen the last answer before it asks again: else two requests compete for the next
// launch.
void ClusterWork::asked(const AsyncIssue& issue) {
  for (uint32_t m = issue.origin.lanes; m != 0; m &= m - 1)
    if (warp_of(issue.origin).seen[static_cast<size_t>(std::countr_zero(m))] < requests_)
      stop(issue.origin, "a launch is asked for before the thread has seen the last answer");
  ++requests_;
}

void ClusterWork::on(const AsyncIssue& issue) {
  if (issue.origin.effect == nullptr) return;
  const bool request = std::holds_alternative<isa::TryCancel>(*issue.origin.effect);
  if (request) asked(issue);
  const bool watched = slice_.watches(issue.origin.pc);
  bool copies_numbers = request;
  for (const bool writes : {false, true}) {
    uint64_t bytes = 0;
    bool global = states_global(run_.program->footprint(op_at(issue.origin)), writes);
    const auto& pieces = writes ? issue.writes : issue.reads;
    for (const Piece& piece : pieces) {
      global |= piece.space == isa::Space::global;
      bytes += piece.bytes;
      if (!writes && piece.shared())
        copies_numbers |= holds(static_cast<uint32_t>(piece.address), piece.bytes);
      if (writes && piece.shared())
        put(static_cast<uint32_t>(piece.address), piece.bytes, copies_numbers ? unknown_number : Derived{});
    }
    if (!global) continue;
    if (writes && issue.reduces) return stop(issue.origin, "GMEM is modified by a reduction");
    const Derived how = watched ? of_place(issue.origin, writes, issue.origin.lanes) : Derived{};
    // The box of a tensor map is the same everywhere; what lies outside of the array is not accessed.
    const bool other = touch(issue.origin, how, writes, issue.family == isa::AsyncFamily::tensor ? 0 : bytes);
    if (writes && !other) continue;
    for (const Piece& piece : pieces)
      if (piece.space == isa::Space::global)
        note({piece.address, piece.bytes, line_of(issue.origin)}, writes, how);
  }
  if (issue.tensor_map != 0 && space_of(issue.tensor_map) == isa::Space::global)
    note({issue.tensor_map, 1}, false, {});
}

}  // namespace palladion::sim::check
