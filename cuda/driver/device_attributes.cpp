#include "cuda/driver/device_attributes.h"

#include <iterator>

namespace palladion::cuda::driver {
namespace {

// By the number in CUdevice_attribute, as an H200 answers with driver 580 (measured 2026-11-24); 0 for what
// the library lacks: stream memory operations, sparse arrays, GPUDirect, handles
// of pools, multicast, IPC.
constexpr int measured[] = {
    0,         1024,       1024,    1024,    64,    2147483647, 65535,   65535,  49152,    65536,
    32,        2147483647, 65536,   1980000, 512,   1,          132,     0,      0,        1,
    0,         131072,     131072,  65536,   16384, 16384,      16384,   32768,  32768,    2048,
    512,       1,          1,       0,       6,     0,          3201000, 6016,   62914560, 2048,
    3,         1,          32768,   2048,    1,     32768,      32768,   8192,   8192,     32768,
    0,         32,         32768,   32768,   2046,  32768,      131072,  65536,  16384,    16384,
    16384,     32768,      2048,    32768,   32768, 2048,       32768,   32768,  2046,     268435456,
    131072,    65000,      2097120, 32768,   32768, 9,          0,       32768,  1,        1,
    1,         233472,     65536,   1,       0,     0,          0,       2,      0,        1,
    1,         1,          0,       0,       0,     1,          0,       232448, 0,        1,
    0,         0,          0,       0,       0,     0,          32,      0,      39321600, 134217728,
    0,         1024,       0,       1,       0,     1,          0,       0,      0,        0,
    1,         1,          0,       1,       0,     0,          0,       0,      0,        0,
    0,         -1,         0,       0,       0,     0,          0,       0,      0,        590680286,
    415174878, 0,          0,       0,       0,     0,          0};

}  // namespace

std::optional<int> device_attribute(const isa::ArchSpec& a, int attribute) {
  switch (attribute) {  // what the chip's description states
    case 1:
      return a.max_threads_per_cta;
    case 2:
      return a.max_cta_x;
    case 3:
      return a.max_cta_y;
    case 4:
      return a.max_cta_z;
    case 5:
      return static_cast<int>(a.max_grid_x);
    case 6:
      return static_cast<int>(a.max_grid_yz);
    case 7:
      return static_cast<int>(a.max_grid_yz);
    case 8:
      return a.static_shared_bytes_per_cta;
    case 10:
      return a.warp_size;
    case 12:
      return a.registers_per_sm;
    case 13:
      return a.sm_clock_mhz * 1000;
    case 16:
      return a.sm_count;
    case 36:
      return a.memory_clock_mhz * 1000;
    case 38:
      return static_cast<int>(a.l2_bytes);
    case 39:
      return a.max_threads_per_sm;
    case 75:
      return a.sm / 10;
    case 76:
      return a.sm % 10;
    case 81:
      return a.shared_bytes_per_sm;
    case 82:
      return a.registers_per_sm;
    case 97:
      return a.max_shared_bytes_per_cta;
    case 102:  // virtual memory management
      return 1;
    case 106:
      return a.max_ctas_per_sm;
    case 111:
      return a.reserved_shared_bytes_per_cta;
    default:
      break;
  }
  if (attribute < 1 || attribute >= static_cast<int>(std::size(measured))) return std::nullopt;
  return measured[attribute];
}

}  // namespace palladion::cuda::driver
