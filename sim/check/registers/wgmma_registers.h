#pragma once
// Registers of wgmma (PTX, "wgmma.fence", "wgmma.mma_async", "wgmma.wait_group"): WG-01 to WG-05, and
// WG-10, warps of a warpgroup whose wgmma instructions differ. Exact for the run that took place.
#include <map>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/registers/wgmma_registers_analysis.h"

namespace palladion::sim::check {

class WgmmaRegisters {
 public:
  WgmmaRegisters(const ClusterContext& context, const WgmmaAnalysis& analysis);

  void on(const Executing& event);
  void on(const AsyncJoined& event);
  void on(const Fenced& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);
  void on(const ClusterEnded&);
  // The cluster is deadlocked.
  void deadlocked();

 private:
  static constexpr uint32_t nowhere = ~0U;
  static constexpr uint64_t never = ~0ULL;

  // A wgmma that used a register. `order` counts the warp's events.
  struct Use {
    Pc pc{nowhere};
    uint64_t group = 0;  // which commit_group, counted from 0, it belongs to
    uint64_t order = 0, fence = 0;
  };
  struct Fragment {
    Use accumulator, a;
    Pc touched_pc{nowhere};
    uint32_t touched_lanes = 0, touched_register = 0;
    uint64_t touched_fence = never;  // the fences before the last ordinary access
    bool touched_by_write = false, touched_by_copy = false;
  };
  struct Warp {
    std::vector<Fragment> fragments;
    uint64_t commits = 0, completed = 0;  // groups
    uint64_t fences = 0, order = 0;
    Pc wait_pc{nowhere};
    uint64_t wait_order = 0, wait_allowed = 0, wait_commits = 0;
    uint64_t sequence = 0;  // hash of the family's instructions up to now
    Pc last_pc{nowhere};
    bool issued = false;
  };
  // A wgmma that not all four warps have issued.
  struct Open {
    uint64_t sequence = 0;
    Pc pc;
    CtaRank cta_rank;
    WarpOfCta warp;  // that issued it first
    uint32_t warps = 0;
  };

  Warp& warp(const Origin& origin);
  bool in_flight(const Warp& w, const Use& use) const {
    return use.pc != nowhere && use.group >= w.completed;
  }
  // A warp without any fence is reported at its first wgmma, once.
  static bool touched(const Warp& w, const Fragment& f) {
    return w.fences != 0 && f.touched_fence == w.fences;
  }
  static uint32_t last_touched(const Warp& w, const WgmmaAnalysis::Operands& o);
  void step(const Origin& origin);
  void compare(const Origin& origin, uint64_t id);
  void compare_ends(CtaRank cta_rank, WarpOfCta first_warp);
  void judge_access(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& part);
  void judge_accumulator(const Origin& origin, const Warp& w, uint32_t fragment);
  void judge_a(const Origin& origin, const Warp& w, uint32_t fragment);
  void judge_fence(const Origin& origin, const Warp& w, uint32_t fragment);  // nowhere: all
  void touch(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& part, Fragment& f);
  void report_in_flight(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& access,
                        const Use& use, bool accumulator);
  static Statement missing_wait(const Warp& w, const Use& use);
  void report_shape(const Origin& origin, const Use& earlier, uint32_t reg);
  void report_difference(const Origin& origin, const Origin& other, bool at_end);
  Site past(const Origin& origin, Pc pc, Part part) const;
  std::string name(uint32_t reg) const;
  Object object(const Origin& origin, uint32_t reg, const std::vector<uint32_t>& among) const;

  const ClusterContext& context_;
  const WgmmaAnalysis& analysis_;
  uint32_t warps_ = 0;  // of a CTA
  std::vector<Warp> state_;
  std::map<uint64_t, Open> open_;
};

}  // namespace palladion::sim::check
