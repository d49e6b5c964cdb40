#include "sim/program/arrays.h"

#include <algorithm>

#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

using Kind = isa::Operand::Kind;

constexpr uint32_t pointer_bytes = 8;
constexpr std::pair<uint32_t, int64_t> environment{isa::no_id, 0};  // the workspace of a cooperative launch

// The address of a parameter that is loaded; null: it loads something else.
const isa::Operand* parameter_of(const isa::MemoryUse& use, const isa::Instruction& i) {
  if (use.space != isa::Space::param || use.address < 0) return nullptr;
  const isa::Operand& o = i.operands[static_cast<size_t>(use.address)];
  return o.is(Kind::address) && o.elements.front().is(Kind::symbol) ? &o : nullptr;
}

}  // namespace

// Follows an address back to where its parts come from.
class ArrayAnalysis::Search {
 public:
  Search(const ArrayAnalysis& of, Pc pc) : of_(of) {
    const MicroOp& op = of.program_.code[pc];
    take_variables(op, true);
    for_each_register(of.program_, op, [&](const RegisterUse& use) {
      if (use.address) add(use.reg);
    });
    while (!next_.empty() && is_known_) {
      const uint32_t reg = next_.back();
      next_.pop_back();
      if (reg >= of.writers_.size()) continue;
      for (const Pc writer : of.writers_[reg]) follow(of.program_.code[writer]);
    }
  }
  Arrays result() && { return is_known_ ? std::move(found_) : Arrays{}; }

 private:
  void add(uint32_t reg) {
    if (seen_.insert(reg).second) next_.push_back(reg);
  }
  void take_variables(const MicroOp& op, bool in_addresses) {
    if (op.instruction == nullptr) return;
    for (const isa::Operand& o : op.instruction->operands) {
      if (o.is(Kind::symbol)) found_.emplace(o.id, 0);
      if (o.is(Kind::special) && o.special == isa::Special::envreg) found_.insert(environment);
      if (in_addresses && o.is(Kind::address) && o.elements.front().is(Kind::symbol))
        found_.emplace(o.elements.front().id, 0);
    }
  }
  void follow(const MicroOp& op) {
    const isa::MemoryUse* const read = of_.program_.footprints[op.pc].read();
    if (read == nullptr) {
      take_variables(op, false);
      for_each_register(of_.program_, op, [&](const RegisterUse& use) {
        if (use.reads && use.operand >= 0) add(use.reg);
      });
    } else if (read->bytes == 0 || read->bytes >= pointer_bytes) {  // else an index
      const isa::Operand* const address = parameter_of(*read, *op.instruction);
      const bool of_kernel = &of_.program_.module->functions[op.function] == of_.program_.entry;
      if (address != nullptr && of_kernel)
        found_.emplace(address->elements.front().id, address->offset);
      else
        is_known_ = false;
    }
  }

  const ArrayAnalysis& of_;
  std::set<uint32_t> seen_;
  std::vector<uint32_t> next_;
  Arrays found_;
  bool is_known_ = true;
};

ArrayAnalysis::ArrayAnalysis(const Program& program) : program_(program) {
  for (const MicroOp& op : program.code)
    for_each_register(program, op, [&](const RegisterUse& use) {
      if (!use.writes) return;
      if (writers_.size() <= use.reg) writers_.resize(use.reg + 1);
      writers_[use.reg].push_back(op.pc);
    });
}

ArrayAnalysis::Arrays ArrayAnalysis::arrays(Pc pc) const { return Search(*this, pc).result(); }

bool ArrayAnalysis::may_share(Pc a, Pc b) const {
  const Arrays one = arrays(a), other = arrays(b);
  if (one.empty() || other.empty()) return true;
  return std::ranges::any_of(one, [&](const auto& array) { return other.contains(array); });
}

}  // namespace palladion::sim
