#include "sim/machine/exec/own_stores.h"

#include <algorithm>

namespace palladion::sim {
namespace {

// All 32 lanes, one behind the other, in the device's addresses and in the host's.
bool consecutive(const uint64_t* addresses, uint32_t lanes, uint64_t size, uint8_t* const* at) {
  if (lanes != ~0U) return false;
  const auto first = reinterpret_cast<uintptr_t>(at[0]);
  uint64_t differs = 0;
  for (uint64_t i = 0; i < 32; ++i)
    differs |= (addresses[i] ^ (addresses[0] + i * size)) |
               (reinterpret_cast<uintptr_t>(at[i]) ^ (first + i * size));
  return differs == 0;
}

// visit(first lane, number of lanes) for consecutive lanes in the same chunk.
void for_each_chunk(const uint64_t* addresses, uint64_t size, auto visit) {
  for (uint64_t lane = 0; lane < 32;) {
    const uint64_t room = StoreBuffer::chunk_bytes - addresses[lane] % StoreBuffer::chunk_bytes;
    const uint64_t n = std::min(32 - lane, room / size);
    visit(lane, n);
    lane += n;
  }
}

void place(uint8_t** at, uint64_t lanes, uint8_t* bytes, uint64_t size) {
  for (uint64_t i = 0; i < lanes; ++i) at[i] = bytes + i * size;
}

}  // namespace

void see_own_stores(const Exec& x, const uint64_t* addresses, uint32_t lanes, uint64_t size, uint8_t** at,
                    uint8_t (*copies)[32]) {
  const StoreBuffer& stores = x.cluster.stores;
  if (!stores.touches_any(addresses)) return;
  const auto place_lane = [&](uint64_t i) {
    at[i] = const_cast<uint8_t*>(stores.visible(Address(addresses[i]), at[i], size, copies[i]));
  };
  if (!consecutive(addresses, lanes, size, at)) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) place_lane(static_cast<uint64_t>(std::countr_zero(m)));
    return;
  }
  for_each_chunk(addresses, size, [&](uint64_t lane, uint64_t n) {
    const uint8_t* const bytes = stores.visible(Address(addresses[lane]), at[lane], n * size, nullptr);
    if (bytes != nullptr) return place(at + lane, n, const_cast<uint8_t*>(bytes), size);
    for (uint64_t i = lane; i < lane + n; ++i) place_lane(i);
  });
}

void delay_stores(const Exec& x, const uint64_t* addresses, uint32_t lanes, uint64_t size, uint8_t** at) {
  StoreBuffer& stores = x.cluster.stores;
  if (consecutive(addresses, lanes, size, at))
    return for_each_chunk(addresses, size, [&](uint64_t lane, uint64_t n) {
      place(at + lane, n, stores.take(x.memory, Address(addresses[lane]), at[lane], n * size), size);
    });
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(m));
    at[i] = stores.take(x.memory, Address(addresses[i]), at[i], size);
  }
}

}  // namespace palladion::sim
