#include "sim/state/global_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::sim {
namespace {
constexpr uint64_t alignment = 512;
constexpr uint64_t guard = 1 << 16;
}  // namespace

Address GlobalMemory::add(uint64_t size, uint8_t* bytes, std::unique_ptr<uint8_t[]> owned, std::string name) {
  const Address base = next_;
  next_ += (size + guard + alignment - 1) / alignment * alignment;
  allocations_.push_back({.base = base,
                          .size = size,
                          .bytes = bytes,
                          .name = std::move(name),
                          .undefined = false,
                          .owned = std::move(owned)});
  return base;
}

Address GlobalMemory::allocate(uint64_t size, std::string name) {
  auto owned = std::make_unique<uint8_t[]>(std::max<uint64_t>(size, 1));
  uint8_t* bytes = owned.get();
  return add(size, bytes, std::move(owned), std::move(name));
}

Address GlobalMemory::bind(std::span<uint8_t> bytes, std::string name, bool undefined) {
  const Address base = add(bytes.size(), bytes.data(), nullptr, std::move(name));
  allocations_.back().undefined = undefined;
  return base;
}

void GlobalMemory::release(Address base) {
  std::erase_if(allocations_, [&](const Allocation& a) { return a.base == base; });
}

const Allocation* GlobalMemory::lookup(Address address) const {
  const auto after = std::ranges::upper_bound(allocations_, address, {}, &Allocation::base);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& a = *(after - 1);
  return address < a.base + std::max<uint64_t>(a.size, 1) ? &a : nullptr;
}

std::string GlobalMemory::describe(Address address) const {
  const Allocation* nearest = nullptr;
  uint64_t best = ~0ULL;
  for (const Allocation& a : allocations_) {
    const uint64_t distance = address < a.base            ? a.base - address
                              : address - a.base < a.size ? 0
                                                          : address - a.base - a.size;
    if (distance < best) {
      best = distance;
      nearest = &a;
    }
  }
  if (nearest == nullptr) return fmt::format("0x{:x}", address);
  if (address < nearest->base)
    return fmt::format("0x{:x}, {} bytes before `{}`", address, best, nearest->name);
  if (best == 0 && address < nearest->base + nearest->size)
    return fmt::format("`{}` byte {}", nearest->name, address - nearest->base);
  return fmt::format("0x{:x}, {} bytes past the end of `{}` ({} bytes)", address, best, nearest->name,
                     nearest->size);
}

}  // namespace palladion::sim
