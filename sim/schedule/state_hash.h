#pragma once
// A hash of what decides how a warp or a cluster goes on, to recognise states that return.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

class StateHash {
 public:
  explicit StateHash(const Program& program) : program_(program) {}

  // Its lanes' places, its local memory, and the registers that decide in the loops where these are: a
  // counter that nothing in the loop reads is none of them.
  uint64_t of(const WarpState& warp);
  // All warps, with SMEM, local and tensor memory and barriers. Generations count from now.
  uint64_t of(const ClusterState& cluster);
  // Places alone: equal where `of` is.
  static uint64_t places(const ClusterState& cluster);

 private:
  struct Bytes {
    uint32_t begin = 0, end = 0;  // of a warp's register block
  };
  uint64_t registers(uint64_t h, const WarpState& warp);
  const std::vector<Bytes>& deciding(Pc pc);

  const Program& program_;
  std::unordered_map<uint32_t, std::vector<Bytes>> deciding_;  // by pc
};

}  // namespace palladion::sim
