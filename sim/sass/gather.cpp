#include "sim/sass/gather.h"

#include <algorithm>

#include "isa/core/op.h"
#include "sim/sass/uniform.h"

namespace palladion::sim::sass {
namespace {

// Reductions of 32-bit integers, and additions whose old value is wanted.
bool adds_up(const isa::Atomic& a) {
  using A = isa::AtomicOp;
  const bool integer = isa::bits(a.type) == 32 && isa::kind(a.type) != isa::TypeKind::floating;
  const bool reduces =
      a.op == A::min || a.op == A::max || a.op == A::and_ || a.op == A::or_ || a.op == A::xor_;
  return integer && a.elements == 1 && (a.op == A::add || (a.dst < 0 && reduces));
}

class Gatherer {
 public:
  explicit Gatherer(const Program& program) : uniform_(program) {}

  void look_at(uint32_t pc, const MicroOp& op, LoweredInstruction& l) {
    const auto* a = std::get_if<isa::Atomic>(op.effect);
    if (a != nullptr && (l.serialised || !is_shared(l.space)) && adds_up(*a) &&
        uniform_.holds(pc, a->address))
      gather(*a, op.operands[a->b], uniform_.holds(pc, a->b), l);
    for_results(op, [&](uint32_t r) { summed_.erase(r); });
    if (l.branches) summed_.clear();
  }

 private:
  // Then the lane that does it is found, and its answer given to the others. A sum is computed once in a
  // block.
  void gather(const isa::Atomic& a, const DecodedOperand& value, bool alike, LoweredInstruction& l) {
    l.scatters = a.dst >= 0;
    l.gather = alike ? Gather::count : l.scatters ? Gather::scan : Gather::reduce;
    if (!l.scatters && !value.slot.constant && !summed_.insert(value.slot.offset).second)
      l.gather = Gather::again;
  }

  const Uniformity uniform_;
  std::unordered_set<uint32_t> summed_;  // registers whose lanes' sum this block has
};

}  // namespace

void gather(const Program& program, std::span<LoweredInstruction> code) {
  const bool any = std::ranges::any_of(program.code, [](const MicroOp& op) {
    return op.instruction != nullptr && std::holds_alternative<isa::Atomic>(*op.effect);
  });
  if (!any) return;
  Gatherer gatherer(program);
  for (uint32_t pc = 0; pc < code.size(); ++pc)
    if (program.code[pc].instruction != nullptr) gatherer.look_at(pc, program.code[pc], code[pc]);
}

}  // namespace palladion::sim::sass
