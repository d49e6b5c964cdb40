#pragma once
// The 16 barriers of a CTA: the arrivals in this generation and the last (PTX, "bar, barrier").
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/check/protocol/protocol.h"

namespace palladion::sim::check {

struct BarrierArrival {
  Origin origin;
  uint32_t nth = 0;
  Point point;
};

struct BarrierGeneration {
  uint64_t number = 0;
  std::vector<BarrierArrival> arrivals;
  Causality::Clock clock;
};

struct NamedBarrierRecord {
  std::deque<BarrierGeneration> generations;  // the newest last; a few
  std::map<uint64_t, Origin> arrivers;        // all that ever arrived, by warp of the cluster and pc
  const BarrierGeneration* current(uint64_t number) const;
};

class NamedBarriers {
 public:
  explicit NamedBarriers(const Protocol& protocol)
      : p_(protocol), records_(protocol.causality.warps() / protocol.causality.warps_of_cta()) {}

  void on(const CtaBarrierEvent& e);

  const NamedBarrierRecord& find(CtaRank cta_rank, uint32_t id) const { return records_[cta_rank][id]; }

 private:
  BarrierGeneration& generation(NamedBarrierRecord& r, uint64_t number);
  void check_twice(const BarrierGeneration& g, const Origin& origin, uint32_t id);
  void check_recycled(const BarrierGeneration& last, const Origin& origin, uint32_t id);
  void check_count(const CtaBarrierEvent& e);
  void check_mixed(const BarrierGeneration& g, const Origin& origin, uint32_t id);

  const Protocol& p_;
  std::vector<std::array<NamedBarrierRecord, 16>> records_;  // by CTA
};

}  // namespace palladion::sim::check
