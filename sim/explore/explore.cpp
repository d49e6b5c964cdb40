#include "sim/explore/explore.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <set>

#include "sim/explore/reduction.h"

namespace palladion::sim::check {
namespace {

// Two states are taken for the same when these 128 bits agree.
struct Fingerprint {
  uint64_t a = 0x243F6A8885A308D3ULL, b = 0x13198A2E03707344ULL;
  void add(uint64_t v) {
    a = (a ^ v) * 0x9E3779B97F4A7C15ULL;
    a ^= a >> 32;
    b = (b + v) * 0xD6E8FEB86659FD93ULL;
    b ^= b >> 29;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FingerprintHash {
  using is_avalanching = void;  // all bits depend on all of the state
  size_t operator()(const Fingerprint& f) const { return f.a ^ f.b; }
};

Fingerprint fingerprint(const SyncState& s) {
  Fingerprint f;
  for (size_t i = 0; i < s.position.size(); ++i) f.add(uint64_t{s.position[i]} << 1 | s.halted[i]);
  for (const uint32_t g : s.generation) f.add(g);
  for (const ObjectState& o : s.objects) {
    f.add(uint64_t{o.phase} << 32 | o.first);
    f.add(uint64_t{o.pending} << 32 | o.expected);
    f.add(static_cast<uint64_t>(o.tx) << 2 | uint64_t{o.valid} << 1 | uint64_t{o.observed});
  }
  return f;
}

class Search {
 public:
  Search(const Skeleton& skeleton, const ExploreOptions& options)
      : options_(options), model_(skeleton), reduction_(model_) {
    for (const SyncThread& t : skeleton.threads) result_.labels.emplace_back(t.ops.size());
  }

  Exploration run() {
    run_fairly();
    SyncState s = model_.initial();
    result_.complete = true;
    descend(s);
    while (!frames_.empty()) {
      Frame& f = frames_.back();
      go_back(s, f.depth);
      if (f.next == f.choices.size()) {
        frames_.pop_back();
        continue;
      }
      if (exhausted()) break;
      move(s, f.choices[f.next++]);
      descend(s);
    }
    return std::move(result_);
  }

 private:
  struct Frame {
    std::vector<uint32_t> choices;
    size_t next = 0;
    size_t depth = 0;  // of the path
  };

  std::vector<uint32_t> enabled(const SyncState& s) const {
    std::vector<uint32_t> list;
    for (uint32_t t = 0; t < model_.lanes(); ++t)
      if (model_.enabled(s, t)) list.push_back(t);
    for (const uint32_t t : s.flying)
      if (model_.enabled(s, t)) list.push_back(t);
    return list;
  }

  // The phases that operations meet when all threads advance in rotation: the phases that they are meant for.
  void run_fairly() {
    for (const SyncThread& t : model_.skeleton().threads)
      meant_.emplace_back(t.ops.size(), uint32_t{Labels::unseen});
    SyncState s = model_.initial();
    for (bool moved = true; moved;) {
      moved = false;
      for (const uint32_t t : enabled(s)) {
        if (!model_.enabled(s, t)) continue;
        uint32_t& label = meant_[t][s.position[t]];
        label = model_.step(s, t).label;
        moved = true;
      }
    }
  }

  bool exhausted() {
    const bool all = result_.states >= options_.budget;
    const bool after =
        !result_.problems.empty() && result_.states - states_at_problem_ >= options_.budget_after_problem;
    result_.complete &= !all && !after;
    result_.stopped |= after && !all;
    return all || after;
  }

  // Goes on while there is one choice; ends at a branch, at an end, or in a known state.
  void descend(SyncState& s) {
    while (true) {
      if (!seen_.insert(fingerprint(s)).second) break;
      if (exhausted()) break;
      ++result_.states;
      std::vector<uint32_t> choices = enabled(s);
      if (choices.empty()) {
        end(s);
        break;
      }
      if (options_.reduce) choices = reduction_.choose(s, choices, path_.empty() ? 0 : path_.back().thread);
      if (choices.size() > 1) {
        frames_.push_back({std::move(choices), 0, path_.size()});
        return;
      }
      move(s, choices.front());
    }
    ++result_.classes;
  }

  void go_back(SyncState& s, size_t depth) {
    for (; path_.size() > depth; path_.pop_back()) model_.undo(s, path_.back());
  }

  void move(SyncState& s, uint32_t thread) {
    const OpRef op{thread, s.position[thread]};
    path_.push_back(model_.before_step(s, thread));
    const StepResult r = model_.step(s, thread);
    if (r.error != SyncError::none) return add({.kind = Problem::Kind::error, .error = r.error, .op = op});
    if (r.overrun) add({.kind = Problem::Kind::overrun, .op = op, .phase = r.label});
    Labels& l = result_.labels[op.thread][op.position];
    if (l.first == Labels::unseen) l.first = r.label;
    if (l.first == r.label || l.second != Labels::unseen) return;
    l.second = r.label;
    add({.kind = Problem::Kind::ambiguous, .op = op, .phase = l.first, .other_phase = l.second});
  }

  void end(const SyncState& s) {
    ++result_.ends;
    if (std::ranges::any_of(s.halted, [](uint8_t h) { return h != 0; })) return;
    Problem p{.kind = Problem::Kind::deadlock};
    for (uint32_t t = 0; t < model_.lanes(); ++t)
      if (!model_.finished(s, t)) p.blocked.push_back({t, s.position[t]});
    if (p.blocked.empty()) return;
    for (const OpRef& r : p.blocked)
      p.blocked_phase.push_back(s.objects.empty() ? 0 : s.objects[model_.next(s, r.thread).object].phase);
    ++result_.deadlocked_ends;
    p.op = p.blocked.front();
    find_missed(p);
    add(std::move(p));
  }

  void find_missed(Problem& p) {
    for (size_t i = 0; i < p.blocked.size(); ++i) {
      const OpRef& r = p.blocked[i];
      const SyncOp& op = model_.skeleton().threads[r.thread].ops[r.position];
      const uint32_t meant = meant_[r.thread][r.position];
      if (op.kind != SyncKind::wait || meant == Labels::unseen || meant >= p.blocked_phase[i]) continue;
      p.missed = true;
      p.op = r;
      p.phase = meant;
      p.other_phase = p.blocked_phase[i];
      return;
    }
  }

  void add(Problem p) {
    if (!known_.insert({p.kind, p.error, p.op}).second) return;
    if (result_.problems.empty()) states_at_problem_ = result_.states;
    for (const Undo& u : path_) p.witness.push_back(u.thread);
    result_.problems.push_back(std::move(p));
  }

  ExploreOptions options_;
  Model model_;
  Reduction reduction_;
  Exploration result_;
  uint64_t states_at_problem_ = 0;
  std::vector<std::vector<uint32_t>> meant_;  // by thread and position
  std::vector<Frame> frames_;
  std::vector<Undo> path_;
  boost::unordered_flat_set<Fingerprint, FingerprintHash> seen_;
  std::set<std::tuple<Problem::Kind, SyncError, OpRef>> known_;
};

}  // namespace

bool Exploration::ambiguous() const {
  return std::ranges::any_of(problems, [](const Problem& p) { return p.kind == Problem::Kind::ambiguous; });
}

Exploration explore(const Skeleton& skeleton, const ExploreOptions& options) {
  return Search(skeleton, options).run();
}

}  // namespace palladion::sim::check
