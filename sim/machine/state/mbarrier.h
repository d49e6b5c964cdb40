#pragma once
// The mbarrier object: 8 bytes of shared memory (PTX, "mbarrier"). The layout is ours, the
// hardware's is opaque.
//   bits  0..19  arrivals still pending in the current phase
//   bits 20..39  arrivals expected in a phase
//   bits 40..61  transaction count, two's complement, range +-(2^20 - 1)
//   bit  62      parity of the current phase
//   bit  63      set while the object is initialised
#include <cstdint>

#include "sim/launch/object.h"

namespace palladion::sim {

// The mbarrier at a shared address, for a finding. Checkers put its name in place of the address.
Object mbarrier_at(uint64_t address);

struct MbarrierState {
  uint32_t pending = 0;
  uint32_t expected = 0;
  int32_t tx = 0;
  bool parity = false;
  bool valid = false;

  static constexpr uint32_t max_count = (1u << 20) - 1;
  static constexpr int32_t max_tx = (1 << 20) - 1;

  enum class Refusal : uint8_t { none, tx_range, too_many_arrivals };
  friend bool operator==(const MbarrierState&, const MbarrierState&) = default;

  static MbarrierState decode(uint64_t w) {
    MbarrierState s;
    s.pending = static_cast<uint32_t>(w & max_count);
    s.expected = static_cast<uint32_t>(w >> 20 & max_count);
    s.tx = static_cast<int32_t>(static_cast<uint32_t>(w >> 40 & 0x3FFFFF) << 10) >> 10;
    s.parity = (w >> 62 & 1) != 0;
    s.valid = (w >> 63 & 1) != 0;
    return s;
  }
  uint64_t encode() const {
    return uint64_t{pending} | uint64_t{expected} << 20 |
           (static_cast<uint64_t>(static_cast<uint32_t>(tx)) & 0x3FFFFF) << 40 | uint64_t{parity} << 62 |
           uint64_t{valid} << 63;
  }
  // Arrivals, and bytes that are announced (positive) or completed; when they are refused nothing changes.
  Refusal signal(uint32_t arrivals, int64_t bytes) {
    const int64_t sum = tx + bytes;
    if (sum > max_tx || sum < -max_tx) return Refusal::tx_range;
    if (arrivals > pending) return Refusal::too_many_arrivals;
    tx = static_cast<int32_t>(sum);
    pending -= arrivals;
    return Refusal::none;
  }
  // The phase completes when nothing is pending: counts reload, the parity flips.
  bool complete_if_done() {
    if (pending != 0 || tx != 0) return false;
    pending = expected;
    parity = !parity;
    return true;
  }
};

}  // namespace palladion::sim
