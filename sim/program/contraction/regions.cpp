#include "sim/program/contraction/regions.h"

#include "sim/program/contraction/words.h"

namespace palladion::sim::contraction {
namespace {

bool computes(const isa::Effect& e) {
  return std::holds_alternative<isa::Pure>(e) || std::holds_alternative<isa::Approx>(e);
}

// ptxas splits a basic block here: at fences and calls, at whatever is guarded and does more than compute,
// and where a rounded quotient or root has a slow path behind a branch; of integer quotients all but those of
// .u32 have. Nothing is contracted across it.
bool splits(const Instruction& i, const isa::Effect& e) {
  const Operation o = isa::operation(i);
  if (o == Operation::call || (i.guard.reg != isa::no_id && !computes(e))) return true;
  if (const auto* fence = std::get_if<isa::Fence>(&e)) return !fence->proxy && !fence->mbarrier_init;
  const bool divides = o == Operation::divide || o == Operation::remainder;
  if (!divides && o != Operation::function) return false;
  const Type t = type_of(i);
  return has(i, "rnd") || isa::bits(t) == 64 || (divides && !isa::is_float(t) && t != Type::u32);
}

}  // namespace

std::vector<Region> regions(const FunctionCode& code, const isa::Cfg& cfg) {
  const auto only_next = [&](uint32_t b) {
    if (cfg.blocks[b].successors.size() != 1) return isa::no_id;
    const uint32_t next = cfg.blocks[b].successors.front();
    return next != 0 && next != b && cfg.blocks[next].predecessors.size() == 1 ? next : isa::no_id;
  };
  std::vector<bool> continues(cfg.blocks.size(), false);
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b)
    if (const uint32_t next = only_next(b); next != isa::no_id) continues[next] = true;
  std::vector<Region> out;
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    if (continues[b]) continue;
    out.emplace_back();
    for (uint32_t at = b; at != isa::no_id; at = only_next(at)) {
      for (uint32_t i = cfg.blocks[at].first; i < cfg.blocks[at].last; ++i) {
        out.back().push_back(i);
        if (splits(code[i], code.effect(i))) out.emplace_back();
      }
    }
  }
  return out;
}

std::vector<bool> kept(const FunctionCode& code) {
  const size_t registers = code.function.registers.size();
  std::vector<std::vector<uint32_t>> writers(registers);
  std::vector<bool> is_kept(code.size(), false), is_read(registers, false);
  std::vector<uint32_t> work;
  const auto keep = [&](uint32_t i) {
    if (is_kept[i]) return;
    is_kept[i] = true;
    work.push_back(i);
  };
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (!computes(code.effect(i))) keep(i);
    code.registers(i, [&](const RegisterUse& use) {
      if (use.writes) writers[use.reg].push_back(i);
    });
  }
  while (!work.empty()) {
    const uint32_t i = work.back();
    work.pop_back();
    code.registers(i, [&](const RegisterUse& use) {
      if (!use.reads || is_read[use.reg]) return;
      is_read[use.reg] = true;
      for (const uint32_t w : writers[use.reg]) keep(w);
    });
  }
  return is_kept;
}

}  // namespace palladion::sim::contraction
