#include "sim/program/product_stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "sim/program/products.h"
#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

using Kind = StageBreak::Kind;

struct Copy {
  uint32_t from = 0, to = 0;
};

class Stages {
 public:
  Stages(const Program& program, uint32_t function, std::vector<StageBreak>& out)
      : p_(program),
        function_(function),
        base_(program.register_offsets_base[function]),
        flow_(program, function),
        out_(out) {}

  void run() {
    for (uint32_t i = 0; i < body_size(); ++i)
      if (const isa::Effect* const e = flow_.op(i).effect; e != nullptr)
        if (const auto* call = std::get_if<isa::Call>(e)) add_call(i, *call);
    if (flow_.products().empty()) return;
    find_registers();
    find_copies();
    flow_.for_each([&](uint32_t i, const std::vector<uint32_t>& flying) {
      if (flying.empty() || flow_.op(i).effect == nullptr || flow_.wgmma(i) != nullptr) return;
      for_each_register(p_, flow_.op(i), [&](const RegisterUse& use) { look_at(i, use, flying); });
    });
  }

 private:
  using Products = std::map<uint32_t, std::set<uint32_t>>;  // by register

  void find_registers() {
    for (uint32_t k = 0; k < flow_.products().size(); ++k) {
      const uint32_t i = flow_.products()[k];
      const isa::Wgmma& w = *flow_.wgmma(i);
      for_each_register(p_, flow_.op(i), [&](const RegisterUse& use) {
        if (use.operand == w.acc) accumulators_[use.reg].insert(k);
        if (w.a_desc < 0 && use.operand == w.a_regs) inputs_[use.reg].insert(k);
      });
    }
  }

  // Movs into registers of A, and into those that are copied there.
  void find_copies() {
    std::vector<Copy> movs;
    for (uint32_t i = 0; i < body_size(); ++i) {
      const isa::Instruction* const in = flow_.op(i).instruction;
      if (in == nullptr || isa::operation(*in) != isa::Operation::move) continue;
      const isa::Operand &to = in->operands.front(), &from = in->operands.back();
      if (to.is(isa::Operand::Kind::reg) && from.is(isa::Operand::Kind::reg) && to.id != from.id)
        movs.push_back({base_ + from.id, base_ + to.id});
    }
    for (bool more = true; more;) {
      more = false;
      for (const Copy& m : movs) {
        const std::set<uint32_t> reached = inputs_of(m.to);
        std::set<uint32_t>& known = copied_[m.from];
        const size_t before = known.size();
        known.insert(reached.begin(), reached.end());
        more |= known.size() != before;
      }
    }
  }
  // The wgmmas that have the register in A, or one that it is copied to.
  std::set<uint32_t> inputs_of(uint32_t reg) const {
    std::set<uint32_t> out;
    for (const auto* all : {&inputs_, &copied_})
      if (const auto at = all->find(reg); at != all->end()) out.insert(at->second.begin(), at->second.end());
    return out;
  }

  void look_at(uint32_t i, const RegisterUse& use, const std::vector<uint32_t>& flying) {
    if (use.writes) {
      add(Kind::input_defined, i, use.reg, of(inputs_, use.reg, flying));
      add(Kind::accumulator_written, i, use.reg, of(accumulators_, use.reg, flying));
      add(Kind::input_defined, i, use.reg, of(copied_, use.reg, flying), true);
    }
    // Copies move behind the wait.
    if (use.reads && isa::operation(*flow_.op(i).instruction) != isa::Operation::move)
      add(Kind::accumulator_read, i, use.reg, of(accumulators_, use.reg, flying));
  }

  // The first product in flight that has the register.
  static uint32_t of(const Products& products, uint32_t reg, const std::vector<uint32_t>& flying) {
    const auto all = products.find(reg);
    if (all == products.end()) return isa::no_id;
    const auto at =
        std::ranges::find_if(all->second, [&](uint32_t k) { return std::ranges::binary_search(flying, k); });
    return at == all->second.end() ? isa::no_id : *at;
  }

  void add(Kind kind, uint32_t i, uint32_t reg, uint32_t product, bool copied = false) {
    if (product == isa::no_id) return;
    const Pc at = flow_.op(i).pc;
    if (!out_.empty() && out_.back().at == at) return;
    out_.push_back({kind, at, flow_.op(flow_.products()[product]).pc, reg - base_, copied});
  }

  // Of a function with wgmmas, or beside wgmmas of one that is not in the module.
  void add_call(uint32_t i, const isa::Call& call) {
    const isa::Operand& callee = flow_.op(i).instruction->operands[static_cast<size_t>(call.function)];
    if (!callee.is(isa::Operand::Kind::symbol)) return;
    const uint32_t f = p_.module->symbols[callee.id].function;
    const bool known = f != isa::no_id && p_.module->functions[f].defined;
    const Pc product = first_product(known ? f : function_);
    if (product == isa::no_id) return;
    out_.push_back({known ? Kind::call_of_products : Kind::call_of_extern, flow_.op(i).pc, product});
  }
  Pc first_product(uint32_t function) const {
    const auto at = std::ranges::find_if(p_.code, [&](const MicroOp& op) {
      return op.function == function && op.effect != nullptr &&
             std::holds_alternative<isa::Wgmma>(*op.effect);
    });
    return at == p_.code.end() ? Pc(isa::no_id) : at->pc;
  }
  uint32_t body_size() const { return static_cast<uint32_t>(p_.module->functions[function_].body.size()); }

  const Program& p_;
  uint32_t function_, base_;
  ProductFlow flow_;
  std::vector<StageBreak>& out_;
  Products inputs_, accumulators_, copied_;
};

}  // namespace

std::vector<StageBreak> stage_breaks(const Program& program) {
  std::vector<StageBreak> out;
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) Stages(program, f, out).run();
  return out;
}

}  // namespace palladion::sim
