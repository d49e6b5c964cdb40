#include "sim/program/contraction/passes.h"

#include <algorithm>
#include <set>

#include "sim/program/contraction/words.h"

namespace palladion::sim {

using namespace contraction;

uint32_t sums_across_passes(const FunctionCode& code, const isa::Cfg& cfg, const Loops& loops,
                            const std::vector<bool>& fused) {
  std::vector<std::vector<uint32_t>> writers(code.function.registers.size());  // products and copies
  for (uint32_t i = 0; i < code.size(); ++i) {
    const Instruction& in = code[i];
    if (is_copy(in) || is_negation(in) || is_product(in, code.effect(i)))
      writers[in.operands[0].id].push_back(i);
  }
  std::vector<bool> stays(cfg.blocks.size(), false);  // ptxas does not unroll the loop with this head
  for (const isa::Pragma& p : code.function.body_pragmas)
    if (p.text == "nounroll" && p.before < code.size()) stays[cfg.block_of[p.before]] = true;
  // The sum reads, perhaps through copies, what a product of its loop writes further down.
  const auto reads_earlier_pass = [&](uint32_t sum, const Operand& o) {
    if (!o.is(Operand::Kind::reg)) return false;
    std::set<isa::RegId> seen;
    std::vector<isa::RegId> work{o.id};
    while (!work.empty()) {
      const isa::RegId r = work.back();
      work.pop_back();
      if (!seen.insert(r).second) continue;
      for (const uint32_t i : writers[r]) {
        const Instruction& in = code[i];
        if (is_copy(in) || is_negation(in)) {
          work.push_back(in.operands[1].id);
        } else if (i > sum && type_of(in) == type_of(code[sum]) &&
                   loops.share(cfg.block_of[i], cfg.block_of[sum], stays)) {
          return true;
        }
      }
    }
    return false;
  };
  uint32_t count = 0;
  for (uint32_t i = 0; i < code.size(); ++i) {
    const Instruction& in = code[i];
    if (fused[i] || !is_sum(in)) continue;
    count += reads_earlier_pass(i, in.operands[1]) || reads_earlier_pass(i, in.operands[2]);
  }
  return count;
}

}  // namespace palladion::sim
