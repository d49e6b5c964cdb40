#include "driver/device_attributes.h"

namespace palladion::driver {

std::optional<int> device_attribute(const isa::ArchSpec& a, int attribute) {
  switch (attribute) {  // by the number in CUdevice_attribute
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
    case 7:
      return static_cast<int>(a.max_grid_yz);
    case 8:
      return a.static_shared_bytes_per_cta;
    case 9:
      return 65536;  // constant memory
    case 10:
      return a.warp_size;
    case 11:
      return 2147483647;  // pitch
    case 12:
    case 82:
      return a.registers_per_sm;
    case 13:
      return a.sm_clock_mhz * 1000;
    case 14:
      return 512;  // texture alignment
    case 15:
      return 1;  // copies beside kernels
    case 16:
      return a.sm_count;
    case 17:
      return 0;  // run-time limit of kernels
    case 18:
      return 0;  // integrated
    case 19:
      return 1;  // maps host memory
    case 20:
      return 0;  // compute mode
    case 21:
      return 131072;  // textures: 1D, 2D, 3D, 2D layered
    case 22:
      return 131072;
    case 23:
      return 65536;
    case 24:
    case 25:
    case 26:
      return 16384;
    case 27:
    case 28:
      return 32768;
    case 29:
      return 2048;
    case 30:
      return 512;  // surface alignment
    case 31:
      return 1;  // kernels side by side
    case 32:
      return 1;  // ECC
    case 33:
      return 1;  // PCI bus
    case 34:
      return 0;
    case 35:
      return 0;
    case 36:
      return a.memory_clock_mhz * 1000;
    case 37:
      return 6144;  // bits of the memory bus
    case 38:
      return static_cast<int>(a.l2_bytes);
    case 39:
      return a.max_threads_per_sm;
    case 40:
      return 3;  // copy engines
    case 41:
      return 1;  // unified addressing
    case 42:
      return 32768;
    case 43:
      return 2048;
    case 50:
      return 0;  // PCI domain
    case 51:
      return 32;  // pitch alignment of textures
    case 52:
    case 53:
      return 32768;
    case 54:
      return 2046;
    case 55:
      return 32768;
    case 56:
      return 131072;
    case 57:
      return 65536;
    case 58:
    case 59:
    case 60:
      return 16384;
    case 61:
      return 32768;
    case 62:
      return 2048;
    case 63:
    case 64:
      return 32768;
    case 65:
      return 2048;
    case 66:
    case 67:
      return 32768;
    case 68:
      return 2046;
    case 69:
      return 268435456;
    case 70:
      return 131072;
    case 71:
      return 65000;
    case 72:
      return 2097120;
    case 73:
    case 74:
      return 32768;
    case 75:
      return a.sm / 10;
    case 76:
      return a.sm % 10;
    case 77:
      return 32768;
    case 78:
      return 1;  // stream priorities
    case 79:
    case 80:
      return 1;
    case 81:
      return a.shared_bytes_per_sm;
    case 83:
      return 1;  // managed memory
    case 84:
    case 85:
      return 0;
    case 86:
      return 1;  // native atomics with the host
    case 87:
      return 2;
    case 88:
    case 100:
    case 101:
      return 0;
    case 89:
      return 1;  // concurrent managed access
    case 90:
      return 1;  // compute preemption
    case 91:
      return 1;  // host pointers of registered memory are the device's
    case 95:
      return 1;  // cooperative launch
    case 97:
      return a.max_shared_bytes_per_cta;
    case 102:
      return 0;  // virtual memory management
    case 106:
      return a.max_ctas_per_sm;
    case 108:
      return 0;
    case 109:
      return 0;
    case 111:
      return a.reserved_shared_bytes_per_cta;
    case 115:
      return 1;  // pools
    case 120:
      return 1;  // clusters
    case 123:
      return 0;
    default:
      return attribute > 0 && attribute < 146 ? std::optional<int>(0) : std::nullopt;
  }
}

}  // namespace palladion::driver
