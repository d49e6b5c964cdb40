#include "sim/machine/state/global_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sim/machine/state/left_out.h"

namespace palladion::sim {
namespace {
constexpr uint64_t alignment = 512;
constexpr uint64_t guard = 1 << 16;
constexpr uint64_t left_out_granule = 4;
constexpr uint64_t mapped_from = 1 << 20;  // bytes
}  // namespace

void ReleaseBytes::operator()(uint8_t* bytes) const {
  if (mapped != 0)
    munmap(bytes, mapped);
  else
    std::free(bytes);
}

ZeroedBytes zeroed_bytes(uint64_t size) {
  if (size < mapped_from) {
    auto* bytes = static_cast<uint8_t*>(std::calloc(std::max<uint64_t>(size, 1), 1));
    return bytes != nullptr ? ZeroedBytes(bytes) : throw std::bad_alloc();
  }
  void* bytes =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<uint8_t*>(bytes), ReleaseBytes{size}};
}

Address GlobalMemory::add(uint64_t size, uint8_t* bytes, ZeroedBytes owned, std::string name,
                          bool undefined) {
  const Address base = next_;
  next_ += (size + guard + alignment - 1) / alignment * alignment;
  allocations_.push_back({.base = base,
                          .size = size,
                          .bytes = bytes,
                          .name = std::move(name),
                          .undefined = undefined,
                          .owned = std::move(owned),
                          .left_out = nullptr});
  return base;
}

Address GlobalMemory::allocate(uint64_t size, std::string name, bool undefined) {
  ZeroedBytes owned = zeroed_bytes(size);
  uint8_t* bytes = owned.get();
  return add(size, bytes, std::move(owned), std::move(name), undefined);
}

Address GlobalMemory::bind(std::span<uint8_t> bytes, std::string name, bool undefined) {
  return add(bytes.size(), bytes.data(), nullptr, std::move(name), undefined);
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

void GlobalMemory::track_left_out() {
  for (Allocation& a : allocations_) {
    const uint64_t granules = a.size / left_out_granule + 1;
    a.left_out = zeroed_bytes(granules);
    if (a.undefined) std::memset(a.left_out.get(), 1, granules);
  }
}

void GlobalMemory::forget_left_out() {
  for (Allocation& a : allocations_) a.left_out = nullptr;
}

void GlobalMemory::note(Address address, uint64_t size, bool moved) const {
  const Allocation* a = lookup(address);
  if (a != nullptr && a->left_out != nullptr && address - a->base + size <= a->size)
    mark_left_out<left_out_granule>(a->left_out.get(), address - a->base, size, !moved);
}

bool GlobalMemory::left_out(Address address, uint64_t size) const {
  const Allocation* a = lookup(address);
  return a != nullptr && a->left_out != nullptr && address - a->base + size <= a->size &&
         any_left_out<left_out_granule>(a->left_out.get(), address - a->base, size);
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
