#include "sim/sass/pressure.h"

#include <algorithm>

#include "sim/program/flow.h"
#include "sim/program/registers.h"

namespace palladion::sim::sass {
namespace {

// Addresses and values that are computed ahead: what ptxas 13.0 took beyond the live values of kernels that
// were compiled for sm_90a.
constexpr uint32_t taken_besides = 4;
constexpr uint32_t allocation_unit = 8;
// What wgmma accumulates in and the fragments that it multiplies begin at R24; two registers stand beside
// them.
constexpr uint32_t beside_fragments = 26;

class Pressure {
 public:
  Pressure(const Program& program, const isa::Function& f) : program_(program), cfg_(isa::build_cfg(f)) {
    const uint32_t base = program.register_offsets_base[program.code[program.start].function];
    for (const isa::Register& r : f.registers)
      words_.push_back(isa::bits(r.type) <= 1 ? 0 : static_cast<uint8_t>((isa::bits(r.type) + 31) / 32));
    first_ = base;
    drop_constants();
    find_fragments();
  }

  uint32_t most() {
    const FlowState none(words_.size(), 0);
    const auto at = flow_backward(cfg_, none, none, join_any,
                                  [&](const isa::Block& b, FlowState& live) { walk(b, live); });
    most_ = taken_besides;
    for (size_t b = 0; b < at.size(); ++b) {
      FlowState live = at[b];
      walk(cfg_.blocks[b], live);
    }
    return most_;
  }

 private:
  // ptxas has parameters at hand in the constant bank, and makes constants where they are used.
  void drop_constants() {
    std::vector<uint32_t> definitions(words_.size());
    const auto each_definition = [&](const auto& visit) {
      for (const isa::Block& b : cfg_.blocks)
        for (uint32_t i = b.first; i < b.last; ++i) {
          const MicroOp& op = program_.code[program_.start + i];
          for_each_register(program_, op, [&](const RegisterUse& u) {
            if (u.writes) visit(op, u.reg - first_);
          });
        }
    };
    each_definition([&](const MicroOp&, uint32_t r) { ++definitions[r]; });
    each_definition([&](const MicroOp& op, uint32_t r) {
      if (definitions[r] == 1 && at_hand(op)) words_[r] = 0;
    });
  }
  void find_fragments() {
    fragment_.resize(words_.size());
    for (const MicroOp& op : program_.code) {
      if (op.function != program_.code[program_.start].function || op.instruction == nullptr) continue;
      if (!std::holds_alternative<isa::Wgmma>(*op.effect)) continue;
      for_each_register(program_, op, [&](const RegisterUse& u) {
        if (u.operand >= 0 &&
            op.instruction->operands[static_cast<size_t>(u.operand)].is(isa::Operand::Kind::vector))
          fragment_[u.reg - first_] = 1;
      });
    }
  }
  bool at_hand(const MicroOp& op) const {
    const isa::Instruction& i = *op.instruction;
    if (const auto* load = std::get_if<isa::Load>(op.effect)) return load->space == isa::Space::param;
    const isa::Operation o = isa::operation(i);
    const bool converts = o == isa::Operation::convert_address;
    if (o != isa::Operation::move && !converts) return false;
    const isa::Operand& from = i.operands[1];
    if (from.is(isa::Operand::Kind::imm) || from.is(isa::Operand::Kind::symbol)) return true;
    return from.is(isa::Operand::Kind::reg) && converts &&
           words_[program_.register_offsets_base[op.function] + from.id - first_] == 0;
  }

  void walk(const isa::Block& b, FlowState& live) {
    uint32_t now = 0, fragments = 0;
    const auto count = [&](size_t r, bool alive) {
      const uint32_t words = alive ? words_[r] : 0U - words_[r];
      now += words;
      fragments += fragment_[r] != 0 ? words : 0;
    };
    for (size_t r = 0; r < live.size(); ++r)
      if (live[r] != 0) count(r, true);
    for (uint32_t i = b.last; i-- > b.first;) {
      const MicroOp& op = program_.code[program_.start + i];
      if (op.instruction == nullptr) continue;
      const auto set = [&](uint32_t reg, bool alive) {
        uint8_t& is = live[reg - first_];
        if ((is != 0) == alive) return;
        is = alive ? 1 : 0;
        count(reg - first_, alive);
      };
      for_each_register(program_, op, [&](const RegisterUse& u) {
        if (u.writes && !u.reads && op.guard < 0) set(u.reg, false);
      });
      for_each_register(program_, op, [&](const RegisterUse& u) {
        if (u.reads) set(u.reg, true);
      });
      most_ = std::max({most_, now + taken_besides, fragments != 0 ? fragments + beside_fragments : 0});
    }
  }

  const Program& program_;
  isa::Cfg cfg_;
  std::vector<uint8_t> words_;     // of 32 bits, by register
  std::vector<uint8_t> fragment_;  // 1: wgmma's
  uint32_t first_ = 0, most_ = 0;
};

}  // namespace

uint32_t estimated_registers(const Program& program) {
  // A kernel that hands registers from warp to warp is launched with all that its bounds give.
  const bool reallocates = std::ranges::any_of(
      program.effects, [](const isa::Effect& e) { return std::holds_alternative<isa::SetMaxRegisters>(e); });
  if (reallocates) return program.launch_registers;
  const uint32_t most = Pressure(program, *program.entry).most();
  return std::min(program.launch_registers, (most + allocation_unit - 1) / allocation_unit * allocation_unit);
}

uint32_t named_barriers(const Program& program) {
  const auto all = static_cast<uint32_t>(program.arch->named_barriers_per_cta);
  uint32_t most = 0;
  for (const MicroOp& op : program.code) {
    if (op.instruction == nullptr) continue;
    if (std::holds_alternative<isa::ClusterBarrier>(*op.effect)) most = std::max(most, 1U);
    const auto* const b = std::get_if<isa::CtaBarrier>(op.effect);
    if (b == nullptr) continue;
    if (b->id >= 0 && !op.operands[b->id].slot.constant) return all;
    most = std::max(most, b->id < 0 ? 1 : static_cast<uint32_t>(op.operands[b->id].offset) + 1);
  }
  return most;
}

}  // namespace palladion::sim::sass
