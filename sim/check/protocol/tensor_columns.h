#pragma once
// Allocations of tensor memory: which columns a CTA has, who uses others, what is left at its end (PTX,
// "Tensor Memory Allocation").
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/check/protocol/protocol.h"
#include "sim/machine/state/tensor_memory.h"

namespace palladion::sim::check {

class TensorColumns {
 public:
  explicit TensorColumns(const Protocol& protocol) : p_(protocol), ctas_(protocol.cluster().ctas.size()) {}

  void on(const TensorAllocated& e);
  void on(const TensorAccess& a);
  void on(const AsyncIssue& e);
  void on(const ArrivalDeferred& e);
  void on(const Exited& event);

 private:
  static constexpr size_t units = TensorMemory::columns / TensorMemory::unit;
  struct Allocation {
    Origin origin;
    uint32_t column = 0, columns = 0;
    Point point;
    bool live = true;
    Origin freed;
  };
  struct Cta {
    std::vector<Allocation> all;          // in their order
    std::array<uint32_t, units> owner{};  // 1 + index in `all` of the last allocation, 0: none ever
  };
  // Columns [first, end) of a CTA that an instruction uses.
  struct Columns {
    uint32_t rank = 0, first = 0, end = 0;
    bool has(const Columns& c) const { return c.rank == rank && c.first >= first && c.end <= end; }
    bool touches(const Columns& c) const { return c.rank == rank && c.first <= end && c.end >= first; }
  };
  static Columns columns_of(const Piece& p);
  static std::vector<Columns> left_operands(std::span<const Piece> reads);
  static std::vector<Columns> operands_of(std::span<const Piece> pieces, std::span<const Columns> but);

  void allocate(const TensorAllocated& e);
  void release(const TensorAllocated& e);
  void check_growth(const Cta& cta, const TensorAllocated& e);
  void check_peer(const Origin& origin);
  void check_group(const Origin& origin, int ctas);
  uint32_t stated_lane(const Origin& origin) const;
  void check_lanes(const TensorAccess& a);
  void use(const Origin& origin, const Columns& columns);
  void report_use(const Origin& origin, const Columns& columns, const Allocation* last);
  Object object(const Columns& columns) const;

  const Protocol& p_;
  std::vector<Cta> ctas_;  // by rank
  Origin first_group_;     // the first instruction with a .cta_group
  int group_ = 0;          // its value
};

}  // namespace palladion::sim::check
