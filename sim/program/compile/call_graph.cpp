// Depth first over the text, without recursion: chains of calls may be long.
#include "sim/program/compile/call_graph.h"

#include <set>

#include "isa/core/op.h"

namespace palladion::sim {
namespace {

using isa::Operand;

// What one function's body refers to.
struct References {
  std::vector<uint32_t> functions;  // defined ones, in the order of the text: called, or their address taken
  std::vector<uint32_t> callees;    // those called by name
  std::vector<uint32_t> taken;      // those whose address is taken
  bool indirect = false;            // calls through registers
  bool stack = false;               // alloca and its like
};

class Graph {
 public:
  Graph(const isa::Module& module, CallGraph& result)
      : module_(module), result_(result), references_(module.functions.size()) {}

  void visit(uint32_t start);
  void visit_tables();
  void find_frames(uint32_t entry);

 private:
  void read(uint32_t function);
  void note(const Operand& o, References& r, bool called);
  void take(const isa::Symbol& target, References& r, bool called);

  const isa::Module& module_;
  CallGraph& result_;
  std::vector<References> references_;
  std::set<uint32_t> taken_;  // functions that an indirect call may reach
};

// A kernel cannot be called: its address alone does not make it part of the program.
void Graph::take(const isa::Symbol& target, References& r, bool called) {
  const isa::Function& f = module_.functions[target.function];
  if (!f.defined) {
    result_.allocates |= uses_heap(f.name);
    return;
  }
  if (f.entry) return;
  r.functions.push_back(target.function);
  (called ? r.callees : r.taken).push_back(target.function);
}

void Graph::note(const Operand& o, References& r, bool called) {
  if (o.is(Operand::Kind::symbol)) {
    result_.named[o.id] = 1;
    const isa::Symbol& s = module_.symbols[o.id];
    if (s.kind == isa::Symbol::Kind::function) take(s, r, called);
  }
  for (const Operand& e : o.elements) note(e, r, false);
}

void Graph::read(uint32_t function) {
  References& r = references_[function];
  for (const isa::Instruction& i : module_.functions[function].body) {
    const bool call = isa::operation(i) == isa::Operation::call;
    r.stack |= i.form->op == "alloca" || i.form->op == "stackrestore";
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const bool callee = call && i.form->operands[k].kind == isa::OperandKind::function;
      r.indirect |= callee && i.operands[k].is(Operand::Kind::reg);
      note(i.operands[k], r, callee);
    }
  }
  taken_.insert(r.taken.begin(), r.taken.end());
}

void Graph::visit(uint32_t start) {
  struct Place {
    uint32_t function;
    size_t next;
  };
  std::vector<Place> path;
  const auto enter = [&](uint32_t f) {
    if (result_.reached[f] != 0) return;
    result_.reached[f] = 1;
    result_.functions.push_back(f);
    read(f);
    path.push_back({f, 0});
  };
  enter(start);
  while (!path.empty()) {
    Place& at = path.back();
    const std::vector<uint32_t>& all = references_[at.function].functions;
    if (at.next == all.size())
      path.pop_back();
    else
      enter(all[at.next++]);
  }
}

// Functions whose addresses are stored in tables can be called through them.
void Graph::visit_tables() {
  for (const isa::Symbol& s : module_.symbols) {
    for (const isa::Relocation& r : s.variable.relocations) {
      const isa::Symbol& target = module_.symbols[r.symbol];
      if (target.kind != isa::Symbol::Kind::function) continue;
      const isa::Function& f = module_.functions[target.function];
      if (!f.defined || f.entry) continue;
      visit(target.function);
      taken_.insert(target.function);
    }
  }
}

// Functions on no cycle are peeled off: those that nobody calls, then those that call nobody. The node after
// the last function stands for all indirect calls.
void Graph::find_frames(uint32_t entry) {
  const auto indirect = static_cast<uint32_t>(module_.functions.size());
  std::vector<std::vector<uint32_t>> calls(indirect + 1), callers(indirect + 1);
  const auto edge = [&](uint32_t from, uint32_t to) {
    calls[from].push_back(to);
    callers[to].push_back(from);
  };
  for (const uint32_t f : result_.functions) {
    for (const uint32_t callee : references_[f].callees) edge(f, callee);
    if (references_[f].indirect) edge(f, indirect);
  }
  for (const uint32_t f : taken_) edge(indirect, f);
  std::vector<uint8_t> left(indirect + 1, 1);
  const auto peel = [&](const auto& in, const auto& out) {
    std::vector<size_t> count(indirect + 1, 0);
    std::vector<uint32_t> ready;
    for (uint32_t f = 0; f <= indirect; ++f) {
      for (const uint32_t other : in[f]) count[f] += left[other];
      if (left[f] != 0 && count[f] == 0) ready.push_back(f);
    }
    while (!ready.empty()) {
      const uint32_t f = ready.back();
      ready.pop_back();
      left[f] = 0;
      for (const uint32_t other : out[f])
        if (left[other] != 0 && --count[other] == 0) ready.push_back(other);
    }
  };
  peel(callers, calls);
  peel(calls, callers);
  for (const uint32_t f : result_.functions)
    result_.framed[f] = f != entry && (left[f] != 0 || references_[f].stack) ? 1 : 0;
}

}  // namespace

bool uses_heap(std::string_view function) {
  return function == "malloc" || function == "free" || function == "__cudaCDP2Malloc" ||
         function == "__cudaCDP2Free";
}

CallGraph call_graph(const isa::Module& module, uint32_t entry) {
  CallGraph result;
  result.reached.assign(module.functions.size(), 0);
  result.framed.assign(module.functions.size(), 0);
  result.named.assign(module.symbols.size(), 0);
  Graph graph(module, result);
  graph.visit(entry);
  graph.visit_tables();
  graph.find_frames(entry);
  return result;
}

}  // namespace palladion::sim
