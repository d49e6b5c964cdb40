// Constants that an instruction restricts: what the manual says of each, as ptxas checks it.
#include <fmt/format.h>

#include <algorithm>

#include "isa/verify/verify_internal.h"

namespace palladion::isa::detail {
namespace {

struct Rule {
  std::string_view op, operand;
  std::string_view word;  // a modifier that the rule is for; empty = all of them
  int64_t least, most, step;
  std::string_view help = {};
};

constexpr int64_t unlimited = INT64_MAX;

constexpr Rule rules[] = {
    {"bar", "a", "", 0, 15, 1, "a CTA has 16 named barriers"},
    {"barrier", "a", "", 0, 15, 1, "a CTA has 16 named barriers"},
    {"bar", "b", "", 0, 1024, 32, "whole warps take part in a barrier"},
    {"barrier", "b", "", 0, 1024, 32, "whole warps take part in a barrier"},
    {"setmaxnreg", "count", "", 24, 256, 8},
    {"cp", "size", "cg", 16, 16, 1, "cp.async.cg copies 16 bytes"},
    {"cp", "size", "ca", 4, 16, 4, "cp.async.ca copies 4, 8 or 16 bytes"},
    {"cp", "size", "bulk", 0, unlimited, 16, "bulk copies move a multiple of 16 bytes"},
    {"wgmma", "scale_a", "", -1, 1, 2},
    {"wgmma", "scale_b", "", -1, 1, 2},
    {"wgmma", "trans_a", "", 0, 1, 1},
    {"wgmma", "trans_b", "", 0, 1, 1},
    {"wgmma", "n", "", 0, unlimited, 1},
    {"discard", "size", "", 128, 128, 1},
    {"applypriority", "size", "", 128, 128, 1},
    {"fence", "size", "", 128, 128, 1, "a tensor map has 128 bytes"},
    {"tensormap", "size", "", 128, 128, 1, "a tensor map has 128 bytes"},
    {"pmevent", "event", "", 0, 65535, 1},
    {"bfe", "b", "", 0, 255, 1},
    {"bfe", "c", "", 0, 255, 1},
    {"bfi", "c", "", 0, 255, 1},
    {"bfi", "d", "", 0, 255, 1},
};

bool holds(const Rule& rule, const Instruction& i) {
  if (rule.op != i.form->op) return false;
  if (rule.word.empty()) return true;
  for (size_t s = 0; s < i.form->slots.size(); ++s)
    if (i.mods[s] >= 0 && i.form->slots[s].words[static_cast<size_t>(i.mods[s])] == rule.word) return true;
  return false;
}

bool keeps(const Rule& rule, int64_t value) {
  return value >= rule.least && value <= rule.most && (value - rule.least) % rule.step == 0;
}

std::string allowed(const Rule& rule) {
  if (rule.least == rule.most) return fmt::format("{}", rule.least);
  if (rule.least == -1 && rule.step == 2) return "-1 or 1";
  const std::string range = rule.most == unlimited ? fmt::format("{} or more", rule.least)
                                                   : fmt::format("{} to {}", rule.least, rule.most);
  return rule.step == 1 ? range : fmt::format("{} in steps of {}", range, rule.step);
}

}  // namespace

void Verifier::constants(const Instruction& i) {
  for (const Rule& rule : rules) {
    if (!holds(rule, i)) continue;
    const int index = i.form->operand(rule.operand);
    if (index < 0 || index >= static_cast<int>(i.operands.size())) continue;
    const Operand& o = i.operands[static_cast<size_t>(index)];
    if (!o.is(Operand::Kind::imm) || keeps(rule, static_cast<int64_t>(o.bits))) continue;
    say(code::immediate,
        fmt::format("operand `{}` of `{}` is {} and must be {}", rule.operand, i.form->op,
                    static_cast<int64_t>(o.bits), allowed(rule)),
        std::string(rule.help));
  }
}

}  // namespace palladion::isa::detail
