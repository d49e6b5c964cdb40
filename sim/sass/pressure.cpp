#include "sim/sass/pressure.h"

#include <algorithm>

#include "sim/program/liveness.h"
#include "sim/program/registers.h"
#include "sim/sass/uniform.h"

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
    const uint32_t base = program.register_offsets_base[entry()];
    for (const isa::Register& r : f.registers)
      words_.push_back(isa::bits(r.type) <= 1 ? 0 : static_cast<uint8_t>((isa::bits(r.type) + 31) / 32));
    first_ = base;
    drop_constants();
    find_fragments();
  }

  uint32_t most() {
    uint32_t most = taken_besides;
    walk_all([&](uint32_t) {
      most =
          std::max({most, now_ + taken_besides, fragments_now_ != 0 ? fragments_now_ + beside_fragments : 0});
    });
    return most;
  }

  std::optional<RegisterPeak> peak() {
    drop_uniform();
    const std::vector<Given> given = given_at_start();
    std::optional<RegisterPeak> out;
    uint32_t block = isa::no_id;
    std::vector<Given> inside;  // of the block, by instruction
    walk_all([&](uint32_t i) {
      if (cfg_.block_of[i] != block) inside = given_inside(block = cfg_.block_of[i], given[cfg_.block_of[i]]);
      const Given& g = inside[i - cfg_.blocks[block].first];
      if (out && now_ + out->given <= out->live + g.registers) return;
      out = {program_.code[program_.start + i].pc, now_, g.registers, g.limit};
    });
    return out;
  }

 private:
  uint32_t entry() const { return program_.code[program_.start].function; }

  // ptxas reads parameters from the constant bank, and makes constants where they are used.
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
  // The uniform datapath has registers of its own.
  void drop_uniform() {
    const Uniformity uniform(program_);
    std::vector<uint8_t> varies(words_.size());
    for (const isa::Block& b : cfg_.blocks)
      for (uint32_t i = b.first; i < b.last; ++i) {
        const MicroOp& op = program_.code[program_.start + i];
        for_each_register(program_, op, [&](const RegisterUse& u) {
          if (u.writes && !uniform.holds(op.pc, u.operand)) varies[u.reg - first_] = 1;
        });
      }
    for (size_t r = 0; r < words_.size(); ++r)
      if (varies[r] == 0) words_[r] = 0;
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

  void set(uint32_t r, bool alive) {
    if ((live_[r] != 0) == alive) return;
    live_[r] = alive ? 1 : 0;
    const uint32_t words = alive ? words_[r] : 0U - words_[r];
    now_ += words;
    fragments_now_ += fragment_[r] != 0 ? words : 0;
  }
  // visit(instruction) with `now_` what is live before it, the last of a block first.
  template <class Visit>
  void walk_all(const Visit& visit) {
    const Liveness live(program_, entry(), cfg_);
    live_.assign(words_.size(), 0);
    for (uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      now_ = fragments_now_ = 0;
      live.for_each_out(b, [&](uint32_t r) { set(r, true); });
      walk(cfg_.blocks[b], visit);
      live.for_each_in(b, [&](uint32_t r) { live_[r] = 0; });
    }
  }
  // From the block's end, which has been set, to its beginning.
  template <class Visit>
  void walk(const isa::Block& b, const Visit& visit) {
    for (uint32_t i = b.last; i-- > b.first;) {
      const MicroOp& op = program_.code[program_.start + i];
      if (op.instruction == nullptr) continue;
      for_each_register(program_, op, [&](const RegisterUse& u) {
        if (u.writes && !u.reads && op.guard < 0) set(u.reg - first_, false);
      });
      for_each_register(program_, op, [&](const RegisterUse& u) {
        if (u.reads) set(u.reg - first_, true);
      });
      visit(i);
    }
  }

  // What a thread has.
  struct Given {
    uint32_t registers = 0;
    RegisterPeak::Limit limit = RegisterPeak::Limit::launch;
  };
  Given of_launch() const {
    const auto most = static_cast<uint32_t>(program_.arch->max_registers_per_thread);
    return program_.launch_registers < most ? Given{program_.launch_registers}
                                            : Given{most, RegisterPeak::Limit::encoding};
  }
  // Behind the instruction.
  Given after(uint32_t i, Given before) const {
    const MicroOp& op = program_.code[program_.start + i];
    const auto* const set = op.effect == nullptr ? nullptr : std::get_if<isa::SetMaxRegisters>(op.effect);
    if (set == nullptr) return before;
    const auto most = static_cast<uint32_t>(program_.arch->max_registers_per_thread);
    const auto count = static_cast<uint32_t>(set->count);
    return count < most ? Given{count, RegisterPeak::Limit::setmaxnreg}
                        : Given{most, RegisterPeak::Limit::encoding};
  }
  // At the start of each block: the most that a way gives.
  std::vector<Given> given_at_start() const {
    std::vector<Given> at(cfg_.blocks.size());
    if (at.empty()) return at;
    at[0] = of_launch();
    std::vector<uint32_t> work{0};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      Given g = at[b];
      for (uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i) g = after(i, g);
      for (const uint32_t next : cfg_.blocks[b].successors)
        if (g.registers > at[next].registers) at[next] = g, work.push_back(next);
    }
    return at;
  }
  std::vector<Given> given_inside(uint32_t b, Given g) const {
    std::vector<Given> out;
    for (uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i) {
      out.push_back(g);
      g = after(i, g);
    }
    return out;
  }

  const Program& program_;
  isa::Cfg cfg_;
  std::vector<uint8_t> words_;            // of 32 bits, by register
  std::vector<uint8_t> fragment_;         // 1: wgmma's
  std::vector<uint8_t> live_;             // 1: live where walk() is
  uint32_t now_ = 0, fragments_now_ = 0;  // words that are live there
  uint32_t first_ = 0;
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

std::optional<RegisterPeak> register_peak(const Program& program) {
  return Pressure(program, *program.entry).peak();
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
