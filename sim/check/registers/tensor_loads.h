#pragma once
// Registers of tcgen05.ld (TC-12). An instruction that reads a result waits for it, PTX says; one that
// overwrites a register before anything has read it does not, and needs tcgen05.wait::ld ("tcgen05 Memory
// Consistency Model: Register dependencies"). Only instructions that can do so on some path are watched.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/order/happens_before.h"
#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

class TensorLoadAnalysis {
 public:
  explicit TensorLoadAnalysis(const Program& program);

  bool watches(Pc pc) const { return !uses_.empty() && uses_[pc] != 0; }
  // Registers that the instruction at `pc` names while a load of them may be under way.
  struct Uses {
    std::vector<uint32_t> read, written;
  };
  const Uses& used(Pc pc) const { return registers_[uses_[pc] - 1]; }
  // The registers that the load at `pc` writes.
  const std::vector<uint32_t>& loaded(Pc pc) const { return loaded_.at(pc); }

 private:
  void find_uses(const Program& program, uint32_t function);

  std::vector<uint32_t> uses_;  // by pc; index + 1
  std::vector<Uses> registers_;
  std::map<uint32_t, std::vector<uint32_t>> loaded_;
};

class TensorLoadRegisters {
 public:
  // `order`, where there is one, learns which loads are over since their results were read.
  TensorLoadRegisters(const ClusterContext& context, const TensorLoadAnalysis& analysis,
                      HappensBefore* order = nullptr);

  void on(const Executing& event);
  void on(const TensorAccess& event);
  void on(const Fenced& event);

 private:
  struct InFlight {
    Pc pc;                // of the load
    uint64_t number = 0;  // of its execution, ascending
  };
  struct Warp {
    std::map<uint32_t, InFlight> registers;
    std::map<uint64_t, uint32_t> unread;  // by number of a load: registers that nothing has read
  };
  void report(const Origin& origin, uint32_t reg, Pc load);
  void read(const Origin& origin, const std::vector<uint32_t>& registers);
  uint32_t warp(const Origin& origin) const { return origin.cta_rank * warps_ + origin.warp; }

  const ClusterContext& context_;
  const TensorLoadAnalysis& analysis_;
  HappensBefore* order_ = nullptr;
  uint32_t warps_ = 0;  // of a CTA
  std::vector<Warp> in_flight_;
};

}  // namespace palladion::sim::check
