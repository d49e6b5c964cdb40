#pragma once
// Where ordinary numbers first become infinities (NU-01, f16) or NaNs (NU-02). None of it is undefined in
// PTX, so all of it is strict: a kernel may intend it.
#include <array>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/numerics/numerics_analysis.h"
#include "sim/check/numerics/numerics_values.h"

namespace palladion::sim::check {

// Instructions of one warp: arithmetic and mma.sync.
class Numerics {
 public:
  Numerics(const ClusterContext& context, const NumericsAnalysis& analysis);

  void on(const Executing& event);
  void on(const Executed& event);

 private:
  using Value = NumericsAnalysis::Value;
  using Watched = NumericsAnalysis::Watched;
  static constexpr size_t max_saved = 64;  // bytes a lane of all sources

  const uint8_t* bytes_of(const Origin& origin, const Value& v) const;
  const uint8_t* source(const Origin& origin, const Watched& w, size_t index) const;
  Special special_sources(const Origin& origin, const Watched& w, Lane lane, uint32_t part) const;
  void judge(const Origin& origin, const Watched& w, const Value& destination);
  uint8_t& nan_found(const Origin& origin) { return nan_found_[origin.cta_rank * warps_ + origin.warp]; }
  void report(const Origin& origin, const Watched& w, Code code, Lane lane, uint32_t part);
  Statement operands(const Origin& origin, const Watched& w, Lane lane, uint32_t part) const;

  const ClusterContext& context_;
  const NumericsAnalysis& analysis_;
  uint32_t warps_ = 0;              // of a CTA
  std::vector<uint8_t> done_;       // by pc: was reported
  std::vector<uint8_t> nan_found_;  // by warp: nothing is reported after its first NaN
  // The sources of an instruction that overwrites one of them, one after the other.
  std::array<uint8_t, 32 * max_saved> saved_{};
};

}  // namespace palladion::sim::check
