// Advice for managed memory. Host and device share every byte at once, so advice and prefetching move
// nothing: they are kept for queries.
#include <algorithm>
#include <array>
#include <optional>

#include "cuda/driver/sizes.h"
#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace {

constexpr int host = -1, nowhere = -2;  // CU_DEVICE_CPU, CU_DEVICE_INVALID

struct Advice {
  bool read_mostly = false;
  std::array<bool, 2> accessed_by{};  // the host, the device
  MemLocation preferred{0, 0}, prefetched{0, 0};
};
// Of the memory from the key to the next one.
std::map<Pointer, Advice> advice;

void cut_at(Pointer p) {
  const auto after = advice.upper_bound(p);
  advice.try_emplace(p, after != advice.begin() ? std::prev(after)->second : Advice{});
}

template <class Change>
void change(Pointer p, size_t bytes, Change what) {
  cut_at(p);
  cut_at(p + bytes);
  for (auto a = advice.find(p); a->first != p + bytes; ++a) what(a->second);
}

// The value that all of the range has; none: it differs.
template <class Value>
auto common(Pointer p, size_t bytes, Value value) {
  cut_at(p);
  cut_at(p + bytes);
  std::optional<decltype(value(Advice{}))> found;
  for (auto a = advice.find(p); a->first != p + bytes; ++a) {
    if (found && *found != value(a->second)) return decltype(found){};
    found = value(a->second);
  }
  return found;
}

Status check(Pointer p, size_t bytes) {
  const Block* b = state().block_of(p);
  const bool inside =
      bytes != 0 && b != nullptr && b->origin == Origin::managed && fits(p - b->base, bytes, b->size);
  return inside ? success : invalid_value;
}

// CUmemLocationType: 1 a device, 2 the host, 3 and 4 a NUMA node of it.
Status check(const MemLocation& l) {
  if (l.type == 1) return l.id == 0 ? success : invalid_device;
  if (l.type == 3 || l.type == 4) return unsupported("locations of NUMA nodes");
  return l.type == 2 ? success : invalid_value;
}

Status prefetch(Pointer p, size_t bytes, const MemLocation& l) {
  if (const Status status = check(p, bytes); status != success) return status;
  if (const Status status = check(l); status != success) return status;
  change(p, bytes, [&](Advice& a) { a.prefetched = l; });
  return success;
}

int device_of(const std::optional<std::pair<int, int>>& location) {
  if (!location || location->first == 0) return nowhere;
  return location->first == 2 ? host : location->second;
}

std::pair<int, int> plain(const MemLocation& l) { return {l.type, l.id}; }

// CUmem_range_attribute
Status attribute_of(void* out, size_t size, int attribute, Pointer p, size_t bytes) {
  if (const Status status = check(p, bytes); status != success) return status;
  const auto preferred = common(p, bytes, [](const Advice& a) { return plain(a.preferred); });
  const auto prefetched = common(p, bytes, [](const Advice& a) { return plain(a.prefetched); });
  const auto give = [&](int value) {
    return size == sizeof value ? (*static_cast<int*>(out) = value, success) : invalid_value;
  };
  switch (attribute) {
    case 1:
      return give(common(p, bytes, [](const Advice& a) { return a.read_mostly; }).value_or(false) ? 1 : 0);
    case 2:
      return give(device_of(preferred));
    case 3: {
      if (size == 0 || size % sizeof(int) != 0) return invalid_value;
      auto* const ids = static_cast<int*>(out);
      std::fill_n(ids, size / sizeof(int), nowhere);
      const auto by =
          common(p, bytes, [](const Advice& a) { return a.accessed_by; }).value_or(std::array{false, false});
      size_t n = 0;
      for (int which = 0; which < 2; ++which)
        if (by[static_cast<size_t>(which)] && n < size / sizeof(int)) ids[n++] = which == 0 ? host : 0;
      return success;
    }
    case 4:
      return give(device_of(prefetched));
    case 5:
      return give(preferred ? preferred->first : 0);
    case 6:
      return give(preferred ? preferred->second : 0);
    case 7:
      return give(prefetched ? prefetched->first : 0);
    case 8:
      return give(prefetched ? prefetched->second : 0);
    default:
      return invalid_value;
  }
}

}  // namespace

PLD_CUDA cuMemPrefetchAsync_v2(Pointer p, size_t bytes, MemLocation location, unsigned flags,
                               Stream* stream) {
  const Guard guard(state().lock);
  if (flags != 0) return invalid_value;
  if (const Status status = may_use_uncaptured(stream); status != success) return status;
  const Status status = usable();
  return status != success ? status : prefetch(p, bytes, location);
}
PLD_CUDA cuMemPrefetchBatchAsync(const Pointer* p, const size_t* bytes, size_t count, const MemLocation* to,
                                 const size_t* first, size_t locations, uint64_t, Stream* stream) {
  const Guard guard(state().lock);
  if (p == nullptr || bytes == nullptr || to == nullptr || first == nullptr) return invalid_value;
  if (const Status status = may_use_uncaptured(stream); status != success) return status;
  if (count == 0 || locations == 0 || first[0] != 0) return invalid_value;
  for (size_t i = 0, l = 0; i < count; ++i) {
    while (l + 1 < locations && first[l + 1] <= i) ++l;
    if (const Status status = prefetch(p[i], bytes[i], to[l]); status != success) return status;
  }
  return success;
}
// CUmem_advise: set and unset each of read mostly, preferred location, accessed by.
PLD_CUDA cuMemAdvise_v2(Pointer p, size_t bytes, int what, MemLocation location) {
  const Guard guard(state().lock);
  if (const Status status = check(p, bytes); status != success) return status;
  if (what >= 3 && what != 4)
    if (const Status status = check(location); status != success) return status;
  const size_t which = location.type == 2 ? 0 : 1;
  switch (what) {
    case 1:
    case 2:
      return change(p, bytes, [&](Advice& a) { a.read_mostly = what == 1; }), success;
    case 3:
      return change(p, bytes, [&](Advice& a) { a.preferred = location; }), success;
    case 4:
      return change(p, bytes, [&](Advice& a) { a.preferred = {0, 0}; }), success;
    case 5:
    case 6:
      return change(p, bytes, [&](Advice& a) { a.accessed_by[which] = what == 5; }), success;
    default:
      return invalid_value;
  }
}
PLD_CUDA cuMemRangeGetAttribute(void* out, size_t size, int attribute, Pointer p, size_t bytes) {
  const Guard guard(state().lock);
  return out == nullptr ? invalid_value : attribute_of(out, size, attribute, p, bytes);
}
PLD_CUDA cuMemRangeGetAttributes(void** out, const size_t* sizes, const int* attributes, size_t count,
                                 Pointer p, size_t bytes) {
  const Guard guard(state().lock);
  if (out == nullptr || sizes == nullptr || attributes == nullptr) return invalid_value;
  for (size_t i = 0; i < count; ++i)
    if (const Status status = attribute_of(out[i], sizes[i], attributes[i], p, bytes); status != success)
      return status;
  return success;
}

namespace palladion::cuda::driver {
void forget_advice(Pointer p, size_t bytes) {
  change(p, bytes, [](Advice& a) { a = {}; });
}
}  // namespace palladion::cuda::driver
