#include "sim/program/liveness.h"

#include <algorithm>

#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

// Of a register, the blocks that read it before they write it, and those that write it whatever it was
// before.
struct Mentions {
  std::vector<uint32_t> exposed, written;
};

std::vector<Mentions> find_mentions(const Program& program, uint32_t function, const isa::Cfg& cfg) {
  const uint32_t base = program.register_offsets_base[function], start = program.function_start[function];
  std::vector<Mentions> mentions(program.module->functions[function].registers.size());
  const auto has = [](const std::vector<uint32_t>& blocks, uint32_t b) {
    return !blocks.empty() && blocks.back() == b;
  };
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
      const MicroOp& op = program.code[start + i];
      for_each_register(program, op, [&](const RegisterUse& u) {
        Mentions& m = mentions[u.reg - base];
        if (u.reads && !has(m.written, b) && !has(m.exposed, b)) m.exposed.push_back(b);
      });
      for_each_register(program, op, [&](const RegisterUse& u) {
        Mentions& m = mentions[u.reg - base];
        if (u.writes && !u.reads && op.guard < 0 && !has(m.written, b)) m.written.push_back(b);
      });
    }
  }
  return mentions;
}

// By block, of 64 registers at a time; between two times all are 0.
struct Bits {
  uint64_t written = 0, in = 0, out = 0;
  bool queued = false, touched = false;
};

class Flow {
 public:
  explicit Flow(const isa::Cfg& cfg) : cfg_(cfg), bits_(cfg.blocks.size()) {}

  void mention(const Mentions& m, uint64_t bit) {
    for (const uint32_t b : m.written) touch(b).written |= bit;
    for (const uint32_t b : m.exposed) enter(b, bit);
  }
  // Up from the blocks that read to those that write; then visit(block, bits) of all that were met.
  template <class Visit>
  void run(const Visit& visit) {
    std::ranges::sort(work_);  // the last in the text first
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      bits_[b].queued = false;
      for (const uint32_t p : cfg_.blocks[b].predecessors) {
        const uint64_t more = bits_[b].in & ~bits_[p].out;
        if (more == 0) continue;
        touch(p).out |= more;
        enter(p, more & ~bits_[p].written);
      }
    }
    for (const uint32_t b : touched_) {
      visit(b, bits_[b]);
      bits_[b] = {};
    }
    touched_.clear();
  }

 private:
  Bits& touch(uint32_t b) {
    if (!bits_[b].touched) touched_.push_back(b);
    bits_[b].touched = true;
    return bits_[b];
  }
  void enter(uint32_t b, uint64_t registers) {
    Bits& bits = touch(b);
    if ((registers & ~bits.in) == 0) return;
    bits.in |= registers;
    if (!bits.queued) work_.push_back(b);
    bits.queued = true;
  }

  const isa::Cfg& cfg_;
  std::vector<Bits> bits_;
  std::vector<uint32_t> touched_, work_;
};

}  // namespace

Liveness::Liveness(const Program& program, uint32_t function, const isa::Cfg& cfg)
    : in_(cfg.blocks.size()), out_(cfg.blocks.size()) {
  const std::vector<Mentions> mentions = find_mentions(program, function, cfg);
  Flow flow(cfg);
  for (uint32_t first = 0; first < mentions.size(); first += 64) {
    for (uint32_t k = 0; k < 64 && first + k < mentions.size(); ++k)
      flow.mention(mentions[first + k], uint64_t{1} << k);
    flow.run([&](uint32_t b, const Bits& bits) {
      if (bits.in != 0) in_[b].push_back({first, bits.in});
      if (bits.out != 0) out_[b].push_back({first, bits.out});
    });
  }
}

}  // namespace palladion::sim
