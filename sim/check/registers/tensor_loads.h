#pragma once
// Registers of tcgen05.ld (TC-12). An instruction that reads a result waits for it, PTX says; one that
// overwrites a register before anything has read it does not, and needs tcgen05.wait::ld ("tcgen05 Memory
// Consistency Model: Register dependencies"). Only instructions that can do so on some path are watched.
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

class TensorLoadAnalysis {
 public:
  explicit TensorLoadAnalysis(const Program& program);

  bool watches(uint32_t pc) const { return !uses_.empty() && uses_[pc] != 0; }
  // Registers that the instruction at `pc` names while a load of them may be under way.
  struct Uses {
    std::vector<uint32_t> read, written;
  };
  const Uses& used(uint32_t pc) const { return registers_[uses_[pc] - 1]; }
  // The registers that the load at `pc` writes.
  const std::vector<uint32_t>& loaded(uint32_t pc) const { return loaded_.at(pc); }

 private:
  void find_uses(const Program& program, uint32_t function);

  std::vector<uint32_t> uses_;  // by pc; index + 1
  std::vector<Uses> registers_;
  std::map<uint32_t, std::vector<uint32_t>> loaded_;
};

class TensorLoadRegisters {
 public:
  // Told when no result of the warp's loads waits to be read any more.
  using AllRead = std::function<void(const Origin&)>;

  TensorLoadRegisters(const ClusterContext& context, const TensorLoadAnalysis& analysis, AllRead all_read);

  void on(const Executing& event);
  void on(const TensorAccess& event);
  void on(const Fenced& event);

 private:
  void report(const Origin& origin, uint32_t reg, uint32_t load);
  uint32_t warp(const Origin& origin) const { return origin.cta_rank * warps_ + origin.warp; }

  const ClusterContext& context_;
  const TensorLoadAnalysis& analysis_;
  AllRead all_read_;
  uint32_t warps_ = 0;                                   // of a CTA
  std::vector<std::map<uint32_t, uint32_t>> in_flight_;  // by warp: register, pc of its load
};

}  // namespace palladion::sim::check
