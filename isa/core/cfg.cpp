#include "isa/core/cfg.h"

#include <algorithm>
#include <numeric>

#include "isa/core/op.h"

namespace palladion::isa {
namespace {

bool jumps(const Instruction& i) {
  return operation(i) == Operation::branch || operation(i) == Operation::branch_indexed;
}
bool returns(const Instruction& i) {
  return operation(i) == Operation::return_ || operation(i) == Operation::exit;
}
bool leaves(const Instruction& i) { return returns(i) || operation(i) == Operation::trap; }

bool guarded(const Instruction& i) { return i.guard.reg != no_id; }

// The instruction after it is executed next when nothing is decided, or when the guard is false.
bool continues(const Instruction& i) { return guarded(i) || (!jumps(i) && !leaves(i)); }

// Calls `visit` with the instruction index of every label that i may jump to.
template <class Visit>
void for_each_target(const Function& f, const Instruction& i, Visit visit) {
  if (!jumps(i)) return;
  const auto label = [&](LabelId id) {
    if (id < f.labels.size() && f.labels[id].target != no_id) visit(f.labels[id].target);
  };
  for (const Operand& o : i.operands) {
    if (!o.is(Operand::Kind::label)) continue;
    if (operation(i) == Operation::branch) {
      label(o.id);
    } else if (o.id < f.branch_targets.size()) {
      for (const LabelId id : f.branch_targets[o.id].labels) label(id);
    }
  }
}

std::vector<bool> find_leaders(const Function& f) {
  std::vector<bool> leader(f.body.size() + 1);
  leader[0] = true;
  for (size_t at = 0; at < f.body.size(); ++at) {
    const Instruction& i = f.body[at];
    if (jumps(i) || leaves(i)) leader[at + 1] = true;
    for_each_target(f, i, [&](uint32_t target) { leader[std::min<size_t>(target, f.body.size())] = true; });
  }
  return leader;
}

void add_edge(Cfg& cfg, uint32_t from, uint32_t to) {
  auto& successors = cfg.blocks[from].successors;
  if (std::ranges::find(successors, to) != successors.end()) return;
  successors.push_back(to);
  cfg.blocks[to].predecessors.push_back(from);
}

void add_edges(Cfg& cfg, const Function& f) {
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const Block& block = cfg.blocks[b];
    const Instruction& last = f.body[block.last - 1];
    // The edge for a false guard comes first.
    if (continues(last) && b + 1 < cfg.blocks.size()) add_edge(cfg, b, b + 1);
    for_each_target(f, last, [&](uint32_t target) {
      if (target < f.body.size()) add_edge(cfg, b, cfg.block_of[target]);
    });
  }
}

// --- where threads reconverge ---------------------------------------------------------------------
//
// The reconvergence point is the immediate post-dominator, with one change: threads that end never reach it,
// so the others need not wait for them. `if (a) { if (b) return; x } y`, and the `bra $exit` that compilers
// make of it, reconverges at y. So in a kernel each exit is treated separately: one exit after the other, the
// last in the text first, gives the points of those blocks that reach it and that no earlier exit covered.
// Traps come after all other exits, then endless loops. A device function reconverges at its return.

struct Graph {
  std::vector<std::vector<uint32_t>> successors, predecessors;
  std::vector<uint8_t> rank;  // 2: returns, 1: traps, 0: neither
};

constexpr uint32_t unknown = ~0u;
// Hostile programs may have thousands of exits: beyond this many they are treated together.
constexpr int max_rounds = 64;

bool only_returns(const Cfg& cfg, const Function& f, uint32_t b) {
  const Instruction& i = f.body[cfg.blocks[b].first];
  return cfg.blocks[b].last == cfg.blocks[b].first + 1 && !guarded(i) && returns(i);
}

bool leaves(const Cfg& cfg, const Function& f, uint32_t b) {
  const Instruction& last = f.body[cfg.blocks[b].last - 1];
  bool out = leaves(last) || (continues(last) && b + 1 == cfg.blocks.size());
  for_each_target(f, last, [&](uint32_t target) { out |= target >= f.body.size(); });
  return out;
}

Graph without_early_exits(const Cfg& cfg, const Function& f) {
  const auto count = static_cast<uint32_t>(cfg.blocks.size());
  Graph g{std::vector<std::vector<uint32_t>>(count), std::vector<std::vector<uint32_t>>(count),
          std::vector<uint8_t>(count)};
  for (uint32_t b = 0; b < count; ++b) {
    bool early = false;
    for (const uint32_t s : cfg.blocks[b].successors) {
      if (f.entry && only_returns(cfg, f, s)) {
        early = true;
        continue;
      }
      g.successors[b].push_back(s);
      g.predecessors[s].push_back(b);
    }
    const bool may_leave = early || leaves(cfg, f, b);
    if (!may_leave || (f.entry && !g.successors[b].empty())) continue;
    g.rank[b] = operation(f.body[cfg.blocks[b].last - 1]) == Operation::trap ? 1 : 2;
  }
  return g;
}

// Reverse postorder of the reversed graph from `exits`, over blocks that have no number yet.
std::vector<uint32_t> reverse_order(const Graph& g, const std::vector<uint32_t>& exits,
                                    std::vector<bool>& covered) {
  std::vector<uint32_t> postorder;
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (const uint32_t start : exits) {
    if (covered[start]) continue;
    covered[start] = true;
    stack.emplace_back(start, 0);
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& predecessors = g.predecessors[block];
      if (next == predecessors.size()) {
        postorder.push_back(block);
        stack.pop_back();
        continue;
      }
      const uint32_t p = predecessors[next++];
      if (covered[p]) continue;
      covered[p] = true;
      stack.emplace_back(p, 0);
    }
  }
  std::ranges::reverse(postorder);
  return postorder;
}

// Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005) on the reversed
// graph; all nodes are known by their number in a depth-first preorder from the virtual exit, 0.
class SemiNca {
 public:
  // Nodes are added in preorder, each with its parent; the root is there.
  uint32_t add(uint32_t parent) {
    parent_.push_back(parent);
    return static_cast<uint32_t>(parent_.size()) - 1;
  }
  // Dominators; for_each_predecessor(node, f) calls f(predecessor's number).
  template <class ForEachPredecessor>
  std::vector<uint32_t> solve(ForEachPredecessor for_each_predecessor) {
    const auto count = static_cast<uint32_t>(parent_.size());
    std::vector<uint32_t> dominator = parent_;
    semi_.resize(count);
    std::iota(semi_.begin(), semi_.end(), 0U);
    label_ = semi_;
    for (uint32_t i = count; i-- > 1;) {
      semi_[i] = dominator[i];
      for_each_predecessor(i, [&](uint32_t p) { semi_[i] = std::min(semi_[i], semi_[evaluate(p, i + 1)]); });
    }
    for (uint32_t i = 1; i < count; ++i)
      while (dominator[i] > semi_[i]) dominator[i] = dominator[dominator[i]];
    return dominator;
  }

 private:
  // The node of the smallest semidominator on the path of linked nodes above, which is compressed.
  uint32_t evaluate(uint32_t node, uint32_t first_linked) {
    if (parent_[node] < first_linked) return label_[node];
    for (; parent_[node] >= first_linked; node = parent_[node]) path_.push_back(node);
    uint32_t above = node;
    while (!path_.empty()) {
      node = path_.back();
      path_.pop_back();
      parent_[node] = parent_[above];
      if (semi_[label_[above]] < semi_[label_[node]]) label_[node] = label_[above];
      above = node;
    }
    return label_[node];
  }

  std::vector<uint32_t> parent_ = {0}, semi_, label_, path_;
};

// Number 0 is the virtual exit, order[k - 1] has number k. Gives the post-dominator's number for each number.
std::vector<uint32_t> post_dominators(const Graph& g, const std::vector<uint32_t>& order,
                                      const std::vector<bool>& is_exit, const std::vector<uint32_t>& number) {
  SemiNca tree;
  std::vector<uint32_t> preorder(order.size() + 1, unknown), node_of = {0};  // by number; by preorder
  preorder[0] = 0;
  std::vector<std::pair<uint32_t, size_t>> stack;  // number, its next predecessor
  const auto enter = [&](uint32_t block, uint32_t parent) {
    const uint32_t k = number[block];
    if (k == unknown || preorder[k] != unknown) return;
    preorder[k] = tree.add(parent);
    node_of.push_back(k);
    stack.emplace_back(k, 0);
  };
  for (const uint32_t exit : order) {
    if (is_exit[exit]) enter(exit, 0);
    while (!stack.empty()) {
      const auto [k, next] = stack.back();
      const auto& predecessors = g.predecessors[order[k - 1]];
      ++stack.back().second;
      if (next == predecessors.size())
        stack.pop_back();
      else
        enter(predecessors[next], preorder[k]);
    }
  }
  const std::vector<uint32_t> solved = tree.solve([&](uint32_t node, auto visit) {
    const uint32_t block = order[node_of[node] - 1];
    if (is_exit[block]) visit(0);
    for (const uint32_t s : g.successors[block])
      if (number[s] != unknown) visit(preorder[number[s]]);
  });
  std::vector<uint32_t> dominator(order.size() + 1, unknown);
  dominator[0] = 0;
  for (uint32_t i = 1; i < solved.size(); ++i) dominator[node_of[i]] = node_of[solved[i]];
  return dominator;
}

void solve(Cfg& cfg, const Graph& g, const std::vector<uint32_t>& exits, std::vector<bool>& covered) {
  std::vector<bool> is_exit(cfg.blocks.size());
  for (const uint32_t b : exits) is_exit[b] = true;
  const std::vector<uint32_t> order = reverse_order(g, exits, covered);
  std::vector<uint32_t> number(cfg.blocks.size(), unknown);
  for (uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k + 1;
  const std::vector<uint32_t> dominator = post_dominators(g, order, is_exit, number);
  for (uint32_t k = 1; k <= order.size(); ++k) {
    Block& block = cfg.blocks[order[k - 1]];
    const auto& successors = g.successors[order[k - 1]];
    const auto arriving = std::ranges::count_if(successors, [&](uint32_t s) { return number[s] != unknown; });
    const bool meets = successors.size() < 2 || arriving >= 2;
    if (meets && dominator[k] != 0 && dominator[k] != unknown) block.reconverge = order[dominator[k] - 1];
  }
}

void find_reconvergence(Cfg& cfg, const Function& f) {
  const Graph g = without_early_exits(cfg, f);
  std::vector<bool> covered(cfg.blocks.size());
  const auto uncovered = [&](uint8_t rank, bool all) {
    std::vector<uint32_t> found;
    for (auto b = static_cast<uint32_t>(cfg.blocks.size()); b-- > 0 && (all || found.empty());)
      if (!covered[b] && g.rank[b] == rank) found.push_back(b);
    return found;
  };
  if (!f.entry) solve(cfg, g, uncovered(2, true), covered);
  int rounds = 0;
  for (const uint8_t rank : {uint8_t{2}, uint8_t{1}, uint8_t{0}}) {
    while (true) {
      const auto exits = uncovered(rank, ++rounds > max_rounds);
      if (exits.empty()) break;
      solve(cfg, g, exits, covered);
    }
  }
}

}  // namespace

Cfg build_cfg(const Function& function) {
  Cfg cfg;
  const auto count = static_cast<uint32_t>(function.body.size());
  cfg.block_of.resize(count);
  if (count == 0) return cfg;
  const std::vector<bool> leader = find_leaders(function);
  for (uint32_t at = 0; at < count; ++at) {
    if (leader[at]) cfg.blocks.push_back({at, at, {}, {}, no_id});
    cfg.blocks.back().last = at + 1;
    cfg.block_of[at] = static_cast<uint32_t>(cfg.blocks.size() - 1);
  }
  add_edges(cfg, function);
  find_reconvergence(cfg, function);
  return cfg;
}

}  // namespace palladion::isa
