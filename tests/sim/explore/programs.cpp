#include "tests/sim/explore/programs.h"

#include <fmt/format.h>

namespace palladion::tests {

using sim::check::Skeleton;
using sim::check::SkeletonBuilder;
using sim::check::SyncKind;
using Kind = Op::Kind;

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

namespace {

void lower(SkeletonBuilder& b, uint32_t t, const Op& op, uint32_t first_barrier, uint32_t pool) {
  const uint32_t bar = first_barrier + op.object;
  switch (op.kind) {
    case Kind::init:
      b.add(t, {.kind = SyncKind::init, .object = op.object, .count = op.count, .after = {}});
      return;
    case Kind::inval:
      b.add(t, {.kind = SyncKind::inval, .object = op.object, .after = {}});
      return;
    case Kind::arrive:
      b.add(t, {.kind = SyncKind::arrive,
                .drop = op.flag,
                .object = op.object,
                .count = op.count,
                .tx = op.tx,
                .after = {}});
      return;
    case Kind::wait:
      return b.wait(t, op.object, op.flag);
    case Kind::copy:
      return b.copy(t, op.object, op.tx);
    case Kind::commit:
      return b.commit(t, op.object);
    case Kind::deferred:
      return b.deferred_arrive(t, op.object, op.count, op.flag);
    case Kind::sync:
      return b.bar_sync(t, bar, op.count, op.needed);
    case Kind::bar_arrive:
      return b.bar_arrive(t, bar, op.count, op.needed);
    case Kind::dec:
      b.add(t, {.kind = SyncKind::registers_dec, .object = pool, .count = op.count, .after = {}});
      return;
    case Kind::inc:
      b.add(t, {.kind = SyncKind::registers_inc, .object = pool, .count = op.count, .after = {}});
      return;
    case Kind::follow:
      b.add(t, {.kind = SyncKind::nothing, .after = {{op.needed, op.count}}});
      return;
  }
}

Op wait(uint32_t object, uint32_t phase) {
  return {.kind = Kind::wait, .object = object, .flag = (phase & 1) != 0};
}

void mutate(Program& p, Random& random) {
  auto& ops = p.threads[random.below(static_cast<uint32_t>(p.threads.size()))];
  if (ops.empty()) return;
  const uint32_t i = random.below(static_cast<uint32_t>(ops.size()));
  const auto at = ops.begin() + i;
  switch (random.below(8)) {
    case 0:
      ops.erase(at);
      return;
    case 1:
      ops.insert(at, Op(*at));
      return;
    case 2:
      at->flag = at->kind == Kind::arrive ? at->flag : !at->flag;
      return;
    case 3:
      if (i + 1 < ops.size()) std::swap(ops[i], ops[i + 1]);
      return;
    case 4:
      at->count = random.between(1, 2) * (at->needed != 0 ? 32 : 1);
      return;
    case 5:
      if (at->needed == 0 && p.mbarriers.size() > 1)
        at->object = random.below(static_cast<uint32_t>(p.mbarriers.size()));
      else if (p.barriers > 1)
        at->object = random.below(p.barriers);
      return;
    case 6:
      if (!p.mbarriers.empty()) {
        uint32_t& count = p.mbarriers[random.below(static_cast<uint32_t>(p.mbarriers.size()))];
        count = random.between(1, 3);
      }
      return;
    default:
      if (at->kind == Kind::arrive && at->tx > 0 && at->count > 0) {  // expect_tx and arrive apart
        Op bare = *at;
        bare.count = 0;
        at->tx = 0;
        ops.insert(random.one_in(2) ? at : at + 1, bare);
      }
      return;
  }
}

// The first thread makes the mbarriers, a barrier orders the others after it; at the end perhaps the reverse.
void add_lifetime(Program& p, Random& random) {
  const auto all = static_cast<uint32_t>(p.threads.size()) * 32;
  const uint32_t bar = p.barriers++;
  const bool ends = random.one_in(2);
  for (uint32_t t = 0; t < p.threads.size(); ++t) {
    auto& ops = p.threads[t];
    std::vector<Op> begin, end;
    if (t == 0)
      for (uint32_t b = 0; b < p.mbarriers.size(); ++b)
        begin.push_back({.kind = Kind::init, .object = b, .count = p.mbarriers[b]});
    begin.push_back({.kind = Kind::sync, .object = bar, .count = 32, .needed = all});
    if (ends) end.push_back({.kind = Kind::sync, .object = bar, .count = 32, .needed = all});
    if (ends && t == 0)
      for (uint32_t b = 0; b < p.mbarriers.size(); ++b) end.push_back({.kind = Kind::inval, .object = b});
    ops.insert(ops.begin(), begin.begin(), begin.end());
    ops.insert(ops.end(), end.begin(), end.end());
  }
  for (uint32_t& count : p.mbarriers) count = 0;
}

Program random_ring(Random& random) {
  Program p = ring(random.between(1, 2), random.between(1, 2), random.between(1, 3), random.below(3));
  if (random.one_in(4)) add_lifetime(p, random);
  return p;
}

// Two roles alternate by a pair of barriers, as ping-pong kernels do; the second has the first round's
// credit. With three threads the third and the second are one role.
Program random_chain(Random& random) {
  Program p{.kind = Program::Kind::chain, .barriers = 2};
  const uint32_t threads = random.between(2, 3), rounds = random.between(1, 3), all = threads * 32;
  p.threads.resize(threads);
  for (uint32_t t = 0; t < threads; ++t) {
    const uint32_t mine = t == 0 ? 0 : 1;
    if (mine == 1)
      p.threads[t].push_back({.kind = Kind::bar_arrive, .object = 0, .count = 32, .needed = all});
    for (uint32_t r = 0; r < rounds; ++r) {
      p.threads[t].push_back({.kind = Kind::sync, .object = mine, .count = 32, .needed = all});
      if (mine == 0 || r + 1 < rounds)
        p.threads[t].push_back({.kind = Kind::bar_arrive, .object = 1 - mine, .count = 32, .needed = all});
    }
  }
  if (random.one_in(3)) {  // the first warps give registers to the last
    const auto last = threads - 1;
    for (uint32_t t = 0; t < last; ++t)
      p.threads[t].insert(p.threads[t].begin(), {.kind = Kind::dec, .count = 2});
    p.threads[last].insert(p.threads[last].begin(), {.kind = Kind::inc, .count = 2 * last});
  }
  return p;
}

// Roles that exchange registers again and again, a barrier between the rounds, as Triton's roles do.
void exchange_registers(Program& p, Random& random) {
  const auto all = static_cast<uint32_t>(p.threads.size()) * 32;
  for (uint32_t round = random.between(1, 2); round != 0; --round) {
    for (size_t t = 0; t < p.threads.size(); ++t) {
      const bool gives = (t + round) % 2 == 0;
      if (!random.one_in(6)) p.threads[t].push_back({.kind = gives ? Kind::dec : Kind::inc, .count = 1});
      if (!random.one_in(6)) p.threads[t].push_back({.kind = Kind::sync, .count = 32, .needed = all});
    }
  }
}

// Threads that give registers back and take them, some before and some after they have met.
Program random_pool(Random& random) {
  Program p{.barriers = 1, .pool = random.below(3)};
  p.threads.resize(random.between(2, 4));
  const auto all = static_cast<uint32_t>(p.threads.size()) * 32;
  const bool meet = random.one_in(2);
  for (auto& ops : p.threads) {
    for (uint32_t n = random.between(1, 2); n != 0; --n)
      ops.push_back({.kind = random.one_in(3) ? Kind::dec : Kind::inc, .count = random.between(1, 2)});
    const Op sync{.kind = Kind::sync, .count = 32, .needed = all};
    if (meet) ops.insert(ops.begin() + random.below(static_cast<uint32_t>(ops.size()) + 1), sync);
  }
  if (meet && random.one_in(2)) exchange_registers(p, random);
  return p;
}

// A thread that commits, threads that wait for some of its commits, and an end of the mbarriers' lives that
// all or some of them precede.
Program random_commits(Random& random) {
  Program p{.barriers = 1};
  p.mbarriers.assign(random.between(1, 3), 1);
  p.threads.resize(random.between(2, 3));
  const auto all = static_cast<uint32_t>(p.threads.size()) * 32;
  const auto barriers = static_cast<uint32_t>(p.mbarriers.size());
  for (uint32_t b = 0; b < barriers; ++b)
    p.threads[random.one_in(4) ? 1 : 0].push_back({.kind = Kind::commit, .object = b});
  for (size_t t = 1; t < p.threads.size(); ++t)
    if (!random.one_in(4))
      p.threads[t].push_back(wait(random.one_in(3) ? random.below(barriers) : barriers - 1, 0));
  for (auto& ops : p.threads)
    if (!random.one_in(6)) ops.push_back({.kind = Kind::sync, .count = 32, .needed = all});
  for (uint32_t b = 0; b < barriers; ++b)
    p.threads[random.below(2)].push_back({.kind = Kind::inval, .object = b});
  return p;
}

Op random_op(const Program& p, Random& random) {
  const auto mbarrier = random.below(static_cast<uint32_t>(p.mbarriers.size()));
  const uint32_t all = 32 * random.between(1, static_cast<uint32_t>(p.threads.size()));
  switch (random.below(17)) {
    case 0:
    case 1:
    case 2:
      return {.kind = Kind::arrive, .object = mbarrier, .count = random.one_in(5) ? 2U : 1U};
    case 3:
      return {.kind = Kind::arrive, .object = mbarrier, .tx = 16};
    case 4:
      return {.kind = Kind::arrive, .object = mbarrier, .count = 0, .tx = 16};
    case 5:
    case 6:
    case 7:
    case 8:
      return wait(mbarrier, random.below(2));
    case 9:
      return {.kind = Kind::copy, .object = mbarrier, .tx = 16};
    case 10:
      return {.kind = Kind::deferred, .object = mbarrier, .flag = random.one_in(2)};
    case 11:
      if (p.barriers == 0) return wait(mbarrier, 0);
      return {.kind = Kind::sync, .object = random.below(p.barriers), .count = 32, .needed = all};
    case 12:
      if (p.barriers == 0) return wait(mbarrier, 1);
      return {.kind = Kind::bar_arrive, .object = random.below(p.barriers), .count = 32, .needed = all};
    case 13:
      return {.kind = random.one_in(2) ? Kind::dec : Kind::inc, .count = random.between(1, 2)};
    case 14:
      return {.kind = Kind::follow,
              .count = random.below(3),
              .needed = random.below(static_cast<uint32_t>(p.threads.size()))};
    case 15:
      return {.kind = Kind::commit, .object = mbarrier};
    default:
      if (random.one_in(3)) return {.kind = Kind::init, .object = mbarrier};
      if (random.one_in(2)) return {.kind = Kind::inval, .object = mbarrier};
      return {.kind = Kind::arrive, .object = mbarrier, .flag = true};
  }
}

Program random_soup(Random& random) {
  Program p{.kind = Program::Kind::soup, .barriers = random.below(3), .pool = random.below(3)};
  p.threads.resize(random.between(2, 4));
  for (uint32_t n = random.between(1, 2); n != 0; --n)
    p.mbarriers.push_back(random.one_in(6) ? 0 : random.between(1, 3));
  for (auto& ops : p.threads)
    for (uint32_t n = random.between(1, p.threads.size() == 4 ? 3 : 4); n != 0; --n)
      ops.push_back(random_op(p, random));
  return p;
}

}  // namespace

Program ring(uint32_t stages, uint32_t consumers, uint32_t steps, uint32_t copies, uint32_t width) {
  Program p;
  p.mbarriers.assign(stages, 1);                                     // full
  p.mbarriers.insert(p.mbarriers.end(), stages, consumers * width);  // empty
  p.threads.resize(1 + consumers * width);
  for (uint32_t k = 0; k < steps; ++k) {
    const uint32_t full = k % stages, empty = stages + full, phase = k / stages;
    auto& producer = p.threads[0];
    producer.push_back(wait(empty, phase + 1));
    producer.push_back({.kind = Kind::arrive, .object = full, .tx = 16 * int64_t{copies}});
    for (uint32_t c = 0; c < copies; ++c) producer.push_back({.kind = Kind::copy, .object = full, .tx = 16});
    for (uint32_t t = 1; t < p.threads.size(); ++t) {
      p.threads[t].push_back(wait(full, phase));
      p.threads[t].push_back({.kind = Kind::arrive, .object = empty});
    }
  }
  return p;
}

Skeleton Program::skeleton() const {
  SkeletonBuilder b(static_cast<uint32_t>(threads.size()));
  for (const uint32_t count : mbarriers) b.mbarrier(count);
  for (uint32_t i = 0; i < barriers; ++i) b.barrier();
  const uint32_t registers = b.pool(pool);
  for (uint32_t t = 0; t < threads.size(); ++t)
    for (const Op& op : threads[t]) lower(b, t, op, static_cast<uint32_t>(mbarriers.size()), registers);
  return b.build();
}

std::string Program::text() const {
  static constexpr const char* names[] = {"init",     "inval", "arrive",     "wait", "copy", "commit",
                                          "deferred", "sync",  "bar_arrive", "dec",  "inc",  "follow"};
  std::string out = "mbarriers";
  for (const uint32_t count : mbarriers) out += fmt::format(" {}", count);
  out += fmt::format(", {} barriers, pool {}\n", barriers, pool);
  for (size_t t = 0; t < threads.size(); ++t) {
    out += fmt::format("T{}:", t);
    for (const Op& op : threads[t])
      out += fmt::format(" {}({},n={},of={},tx={},f={})", names[static_cast<int>(op.kind)], op.object,
                         op.count, op.needed, op.tx, op.flag);
    out += '\n';
  }
  return out;
}

Program random_program(Program::Kind kind, Random& random) {
  using K = Program::Kind;
  const auto make = [&] {
    if (kind == K::soup) return random_soup(random);
    if (kind == K::pool) return random_pool(random);
    if (kind == K::commits) return random_commits(random);
    return kind == K::ring || kind == K::mutated_ring ? random_ring(random) : random_chain(random);
  };
  Program p = make();
  p.kind = kind;
  if (kind == K::mutated_ring || kind == K::mutated_chain)
    for (uint32_t n = random.between(1, 2); n != 0; --n) mutate(p, random);
  return p;
}

}  // namespace palladion::tests
