#pragma once
// The text of wgmma chains, for the cases of the tensor core alone and beside another warpgroup.
#include <string>

#include "bench/device/micro_text.h"

namespace palladion::bench {

struct WgmmaShape {
  int n = 128;
  std::string types = "f32.f16.f16";  // D, A, B
  int k = 16;
  bool a_in_registers = false;
  bool b_transposed = false;  // MN-major
  int swizzle = 128;          // bytes; 0: none
  int tiles = 1;              // accumulators, in rotation: as many times 64 rows

  bool half_accumulators() const { return types[0] == 'f' && types[1] == '1'; }
  bool integers() const { return types[0] == 's'; }
  bool float_accumulators() const { return !integers() && !half_accumulators(); }
  int d_registers() const { return half_accumulators() ? n / 4 : n / 2; }
};

// A fence, `count` instructions on the accumulators, a commit.
std::string wgmma_chain(const WgmmaShape& shape, int count);
// Part 0 is `warpgroups` that run `body` on 96 KiB of random tiles.
KernelText wgmma_kernel(const WgmmaShape& shape, std::string body, int warpgroups);

}  // namespace palladion::bench
