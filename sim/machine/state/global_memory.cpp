#include "sim/machine/state/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/state/unmaterialised.h"

namespace palladion::sim {
namespace {
constexpr uint64_t alignment = 512;
constexpr uint64_t guard = 1 << 16;
constexpr uint64_t unmaterialised_granule = 4;
constexpr uint64_t mapped_from = 1 << 20;  // bytes
constexpr uint64_t page_bytes = 4096;

uint64_t granules_of(const Allocation& a) { return a.size / unmaterialised_granule + 1; }

bool is_zero(const uint8_t* bytes, uint64_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}
}  // namespace

void ReleaseBytes::operator()(uint8_t* bytes) const {
  if (mapped != 0)
    munmap(bytes, mapped);
  else
    std::free(bytes);
}

// By hand: standard and Boost containers write their elements, and so touch every page.
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

bool GlobalMemory::insert(Allocation allocation) {
  const auto end = [](const Allocation& a) { return a.base + std::max<uint64_t>(a.size, 1); };
  const auto after = allocations_.upper_bound(allocation.base);
  if (end(allocation) < allocation.base) return false;
  if (after != allocations_.end() && end(allocation) > after->first) return false;
  if (after != allocations_.begin() && end(std::prev(after)->second) > allocation.base) return false;
  allocations_.emplace_hint(after, allocation.base, std::move(allocation));
  bases_.clear();
  return true;
}

void GlobalMemory::index() {
  if (!bases_.empty()) return;
  indexed_.clear();
  for (const auto& [base, a] : allocations_) bases_.push_back(base), indexed_.push_back(&a);
}

Address GlobalMemory::add(uint64_t size, uint8_t* bytes, ZeroedBytes owned, std::string name,
                          bool undefined) {
  const uint64_t room = (size + guard + alignment - 1) / alignment * alignment;
  // A place that nothing bound at a chosen address occupies, nor its guard gap.
  for (;;) {
    const auto above = allocations_.lower_bound(next_ + room);
    if (above == allocations_.begin()) break;
    const Allocation& below = std::prev(above)->second;
    if (below.base + below.size + guard <= next_) break;
    next_ = Address((below.base + below.size + guard + alignment - 1) / alignment * alignment);
  }
  const Address base = next_;
  next_ += room;
  insert({.base = base,
          .size = size,
          .bytes = bytes,
          .name = std::move(name),
          .undefined = undefined,
          .owned = std::move(owned),
          .unmaterialised = nullptr});
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

bool GlobalMemory::bind_at(Address base, std::span<uint8_t> bytes, std::string name, bool undefined) {
  return insert({.base = base,
                 .size = bytes.size(),
                 .bytes = bytes.data(),
                 .name = std::move(name),
                 .undefined = undefined,
                 .owned = nullptr,
                 .unmaterialised = nullptr});
}

void GlobalMemory::share_with_host(Address base) {
  if (const auto at = allocations_.find(base); at != allocations_.end()) at->second.host_writes = true;
}

void GlobalMemory::release(Address base) {
  constexpr size_t most_freed = 1024;
  const auto at = allocations_.find(base);
  if (at == allocations_.end()) return;
  if (freed_.size() == most_freed) freed_.pop_front();
  freed_.push_back({.base = base, .size = at->second.size, .name = std::move(at->second.name)});
  allocations_.erase(at);
  bases_.clear();
}

void GlobalMemory::track_unmaterialised() {
  for (auto& [base, a] : allocations_) {
    const uint64_t granules = granules_of(a);
    a.unmaterialised = zeroed_bytes(granules);
    if (a.undefined) std::memset(a.unmaterialised.get(), 1, granules);
  }
}

void GlobalMemory::forget_unmaterialised() {
  for (auto& [base, a] : allocations_) a.unmaterialised = nullptr;
}

void GlobalMemory::note(Address address, uint64_t size, bool moved) const {
  const Allocation* a = lookup(address);
  if (a != nullptr && a->unmaterialised != nullptr && a->holds(address, size))
    mark_unmaterialised<unmaterialised_granule>(a->unmaterialised.get(), address - a->base, size, !moved);
}

bool GlobalMemory::unmaterialised(Address address, uint64_t size) const {
  const Allocation* a = lookup(address);
  return a != nullptr && a->unmaterialised != nullptr && a->holds(address, size) &&
         any_unmaterialised<unmaterialised_granule>(a->unmaterialised.get(), address - a->base, size);
}

MemoryImage::Pages MemoryImage::pages(const uint8_t* bytes, uint64_t size) {
  Pages p;
  for (uint64_t at = 0; at < size; at += page_bytes) {
    const uint64_t n = std::min(page_bytes, size - at);
    if (is_zero(bytes + at, n)) continue;
    p.offsets.push_back(at);
    p.bytes.insert(p.bytes.end(), bytes + at, bytes + at + n);
  }
  return p;
}

void MemoryImage::put(const Pages& pages, uint8_t* bytes, uint64_t size) {
  auto next = pages.offsets.begin();
  const uint8_t* from = pages.bytes.data();
  for (uint64_t at = 0; at < size; at += page_bytes) {
    const uint64_t n = std::min(page_bytes, size - at);
    if (next != pages.offsets.end() && *next == at) {
      std::memcpy(bytes + at, from, n);
      from += n;
      ++next;
    } else if (!is_zero(bytes + at, n)) {  // a page that was never written stays unwritten
      std::memset(bytes + at, 0, n);
    }
  }
}

MemoryImage GlobalMemory::image() const {
  MemoryImage image;
  for (const auto& [base, a] : allocations_) {
    image.arrays_.push_back(
        {.base = a.base, .bytes = MemoryImage::pages(a.bytes, a.size), .unmaterialised = {}});
    if (a.unmaterialised != nullptr)
      image.arrays_.back().unmaterialised = MemoryImage::pages(a.unmaterialised.get(), granules_of(a));
  }
  return image;
}

void GlobalMemory::restore(const MemoryImage& image) {
  for (const MemoryImage::Array& array : image.arrays_) {
    const auto found = allocations_.find(array.base);
    if (found == allocations_.end()) continue;
    const Allocation& a = found->second;
    MemoryImage::put(array.bytes, a.bytes, a.size);
    if (a.unmaterialised != nullptr)
      MemoryImage::put(array.unmaterialised, a.unmaterialised.get(), granules_of(a));
  }
}

const Allocation* GlobalMemory::nearest(Address address, uint64_t& best) const {
  const Allocation* nearest = nullptr;
  best = ~0ULL;
  for (const auto& [base, a] : allocations_) {
    const uint64_t distance = address < a.base            ? a.base - address
                              : address - a.base < a.size ? 0
                                                          : address - a.base - a.size;
    if (distance < best) {
      best = distance;
      nearest = &a;
    }
  }
  return nearest;
}

uint64_t GlobalMemory::distance(Address address) const {
  uint64_t best = 0;
  (void)nearest(address, best);
  return best;
}

const Allocation* GlobalMemory::freed(Address address) const {
  const auto holds = [&](const Allocation& a) { return address >= a.base && address - a.base < a.size; };
  const auto at = std::find_if(freed_.rbegin(), freed_.rend(), holds);
  return at == freed_.rend() ? nullptr : &*at;
}

GlobalMemory::Where GlobalMemory::where(Address address) const {
  constexpr uint64_t null_page = 64 << 10, far = uint64_t{1} << 36;
  if (lookup(address) != nullptr) return Where::inside;
  if (address < null_page) return Where::null;
  if (freed(address) != nullptr) return Where::freed;
  if (is_host_ != nullptr && is_host_(address)) return Where::host;
  return distance(address) < far ? Where::near : Where::nowhere;
}

Statement GlobalMemory::describe(Address address) const {
  uint64_t best = 0;
  const Allocation* const nearest = this->nearest(address, best);
  switch (where(address)) {
    case Where::null:
      return address == 0 ? say<Phrase::null_address>() : say<Phrase::near_null>(address);
    case Where::freed: {
      const Allocation& a = *freed(address);
      return say<Phrase::in_freed_array>(address, address - a.base, a.name, a.size);
    }
    case Where::host:
      return say<Phrase::pointer_of_host>(address);
    case Where::nowhere:
      return say<Phrase::at_no_array>(address);
    case Where::inside:
    case Where::near:
      break;
  }
  if (address < nearest->base) return say<Phrase::before_array>(address, best, nearest->name);
  if (best == 0 && address < nearest->base + nearest->size)
    return say<Phrase::in_array>(nearest->name, address - nearest->base);
  return say<Phrase::past_array>(address, best, nearest->name, nearest->size);
}

}  // namespace palladion::sim
