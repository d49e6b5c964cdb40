// Virtual memory management: addresses are reserved, memory is created, mapped there, and made accessible.
// Mapped and accessible memory that has no gap is one allocation of the machine.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "cuda/driver/order/findings.h"
#include "cuda/driver/order/host_access.h"
#include "cuda/driver/order/judge.h"
#include "cuda/driver/order/written.h"
#include "cuda/driver/sizes.h"
#include "cuda/driver/state.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

constexpr size_t granularity = 2 << 20;

// Physical memory; a file without a name, so that it can be mapped at several addresses.
struct Created {
  AllocationProperties properties{};
  size_t size = 0;
  int file = -1;
  int references = 1;  // the program's, and one for each mapping
  bool used = false;   // mapped before: its bytes at a further address count as written
  Pointer first = 0;   // where it was mapped then
};
struct Mapping {
  size_t size = 0, offset = 0;
  Created* memory = nullptr;
  bool accessible = false;
};
struct Reservation {
  size_t size = 0;
  uint8_t* bytes = nullptr;  // of the machine: the program has none at these addresses
  std::map<Pointer, Mapping> mappings;
};

std::map<const void*, std::unique_ptr<Created>> created;
std::map<Pointer, Reservation> reservations;

void drop(Created* c) {
  if (--c->references != 0) return;
  close(c->file);
  created.erase(c);
}

// The machine's bytes of the reserved address.
uint8_t* bytes_at(const Reservation& r, Pointer p) {
  return r.bytes + (p - std::prev(reservations.upper_bound(p))->first);
}

Reservation* reservation_of(Pointer p, size_t bytes) {
  const auto after = reservations.upper_bound(p);
  if (after == reservations.begin()) return nullptr;
  auto& [base, r] = *std::prev(after);
  return p >= base && fits(p - base, bytes, r.size) ? &r : nullptr;
}

bool in(Pointer at, Pointer p, size_t bytes) { return at >= p && at - p < bytes; }
bool whole(size_t n) { return n != 0 && n % granularity == 0; }

// The mappings that fill [p, p + bytes) exactly; empty: they do not.
std::vector<std::pair<const Pointer, Mapping>*> mappings_in(Reservation& r, Pointer p, size_t bytes) {
  std::vector<std::pair<const Pointer, Mapping>*> found;
  Pointer at = p;
  for (auto m = r.mappings.lower_bound(p); m != r.mappings.end() && m->first == at && at < p + bytes; ++m) {
    found.push_back(&*m);
    at += m->second.size;
  }
  if (at != p + bytes) found.clear();
  return found;
}

// What is accessible of the reservation becomes the machine's memory, in as few allocations as possible.
void bind_again(Reservation& r, Pointer base) {
  State& s = state();
  for (auto b = s.blocks.lower_bound(base); b != s.blocks.end() && b->first < base + r.size;) {
    s.machine->memory().release(sim::Address(b->first));
    b = s.blocks.erase(b);
  }
  for (auto m = r.mappings.begin(); m != r.mappings.end();) {
    if (!m->second.accessible) {
      ++m;
      continue;
    }
    const Pointer first = m->first;
    Pointer end = first;
    for (; m != r.mappings.end() && m->first == end && m->second.accessible; ++m) end += m->second.size;
    uint8_t* const bytes = r.bytes + (first - base);
    s.machine->memory().bind_at(sim::Address(first), {bytes, end - first}, "mapped memory");
    s.blocks[first] = {.base = first,
                       .size = end - first,
                       .machine_view = bytes,
                       .origin = Origin::mapped,
                       .id = s.next_id++};
  }
}

// Memory that is accessible at [p, p + bytes), and at another address too.
void tell_of_aliases(Pointer p, size_t bytes) {
  if (!judges()) return;
  std::map<const Created*, Pointer> accessible;
  for (const auto& [base, r] : reservations)
    for (const auto& [at, m] : r.mappings) {
      if (!m.accessible) continue;
      const auto [other, fresh] = accessible.emplace(m.memory, at);
      if (!fresh && (in(at, p, bytes) || in(other->second, p, bytes))) tell_aliases(other->second, at);
    }
}

Status check(const AllocationProperties* p) {
  if (p == nullptr || p->type != 1) return invalid_value;
  if (p->location.type != 1) return unsupported("cuMemCreate of host memory");
  if (p->location.id != 0) return invalid_device;
  return success;
}

}  // namespace

size_t created_bytes() {
  size_t bytes = 0;
  for (const auto& [handle, c] : created) bytes += c->size;
  return bytes;
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuMemGetAllocationGranularity(size_t* out, const AllocationProperties* p, int) {
  const Guard guard(state().lock);
  if (out == nullptr) return invalid_value;
  const Status status = check(p);
  if (status == success) *out = granularity;
  return status;
}
PLD_CUDA cuMemAddressReserve(Pointer* out, size_t bytes, size_t alignment, Pointer, uint64_t flags) {
  const Guard guard(state().lock);
  if (out == nullptr || !whole(bytes) || flags != 0 || (alignment & (alignment - 1)) != 0)
    return invalid_value;
  const Pointer at = take_addresses(bytes, std::max(alignment, granularity));
  if (at == 0) return out_of_memory;
  void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return out_of_memory;
  watch_host();
  reservations[at] = {.size = bytes, .bytes = static_cast<uint8_t*>(p), .mappings = {}};
  return *out = at, success;
}
PLD_CUDA cuMemAddressFree(Pointer p, size_t bytes) {
  const Guard guard(state().lock);
  const auto found = reservations.find(p);
  if (found == reservations.end() || found->second.size != bytes || !found->second.mappings.empty())
    return invalid_value;
  munmap(found->second.bytes, bytes);
  reservations.erase(found);
  return success;
}
PLD_CUDA cuMemCreate(void** out, size_t bytes, const AllocationProperties* p, uint64_t flags) {
  const Guard guard(state().lock);
  if (p == nullptr) return invalid_value;
  if (out == nullptr || flags != 0 || !whole(bytes)) return invalid_value;
  if (const Status status = check(p); status != success) return status;
  if (bytes > static_cast<size_t>(state().arch->memory_bytes) - used_bytes()) return out_of_memory;
  auto c = std::make_unique<Created>();
  c->properties = *p;
  c->size = bytes;
  c->file = memfd_create("palladion memory", MFD_CLOEXEC);
  if (c->file < 0 || ftruncate(c->file, static_cast<off_t>(bytes)) != 0) return out_of_memory;
  *out = c.get();
  created.emplace(c.get(), std::move(c));
  return success;
}
PLD_CUDA cuMemRelease(void* handle) {
  const Guard guard(state().lock);
  if (!created.contains(handle)) return invalid_value;
  return drop(static_cast<Created*>(handle)), success;
}
PLD_CUDA cuMemMap(Pointer p, size_t bytes, size_t offset, void* handle, uint64_t flags) {
  const Guard guard(state().lock);
  Reservation* const r = reservation_of(p, bytes);
  const auto found = created.find(handle);
  if (r == nullptr || found == created.end() || flags != 0 || !whole(bytes) || p % granularity != 0 ||
      offset != 0 || bytes > found->second->size)
    return invalid_value;
  for (const auto& [at, m] : r->mappings)
    if (at < p + bytes && p < at + m.size) return already_mapped;
  void* const mapped = mmap(bytes_at(*r, p), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second->file,
                            static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return map_failed;
  Created& c = *found->second;
  ++c.references;
  if (c.used)
    forget(c.first);
  else
    follow(c.first = p, bytes);
  c.used = true;
  r->mappings[p] = {.size = bytes, .offset = offset, .memory = found->second.get(), .accessible = false};
  return success;
}
PLD_CUDA cuMemUnmap(Pointer p, size_t bytes) {
  const Guard guard(state().lock);
  Reservation* const r = reservation_of(p, bytes);
  if (r == nullptr) return invalid_value;
  const auto found = mappings_in(*r, p, bytes);
  if (found.empty()) return invalid_value;
  const void* const reserved =
      mmap(bytes_at(*r, p), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (reserved == MAP_FAILED) return unmap_failed;
  for (const auto* m : found) {
    if (m->second.memory->first == m->first) forget(m->first);
    drop(m->second.memory);
  }
  r->mappings.erase(r->mappings.find(p), r->mappings.lower_bound(p + bytes));
  bind_again(*r, std::prev(reservations.upper_bound(p))->first);
  return success;
}
PLD_CUDA cuMemSetAccess(Pointer p, size_t bytes, const AccessDescriptor* access, size_t count) {
  const Guard guard(state().lock);
  Reservation* const r = reservation_of(p, bytes);
  if (r == nullptr || access == nullptr || count == 0) return invalid_value;
  const auto found = mappings_in(*r, p, bytes);
  if (found.empty()) return invalid_value;
  for (size_t i = 0; i < count; ++i) {
    if (access[i].location.type != 1 || access[i].location.id != 0) return invalid_device;
    if (access[i].flags == 1) return unsupported("mapped memory that can be read only");
    if (access[i].flags != 0 && access[i].flags != 3) return invalid_value;
    const bool accessible = access[i].flags == 3;
    mprotect(bytes_at(*r, p), bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
    for (auto* m : found) m->second.accessible = accessible;
  }
  bind_again(*r, std::prev(reservations.upper_bound(p))->first);
  tell_of_aliases(p, bytes);
  return success;
}
PLD_CUDA cuMemGetAccess(unsigned long long* flags, const MemLocation* location, Pointer p) {
  const Guard guard(state().lock);
  if (flags == nullptr || location == nullptr) return invalid_value;
  if (location->type != 1 || location->id != 0) return invalid_device;
  Reservation* const r = reservation_of(p, 1);
  if (r == nullptr) return invalid_value;
  for (const auto& [at, m] : r->mappings)
    if (p >= at && p < at + m.size) return *flags = m.accessible ? 3 : 0, success;
  return invalid_value;
}
PLD_CUDA cuMemRetainAllocationHandle(void** out, void* address) {
  const Guard guard(state().lock);
  const auto p = reinterpret_cast<Pointer>(address);
  Reservation* const r = reservation_of(p, 1);
  if (r == nullptr || out == nullptr) return invalid_value;
  for (const auto& [at, m] : r->mappings)
    if (p >= at && p < at + m.size) return ++m.memory->references, *out = m.memory, success;
  return invalid_value;
}
PLD_CUDA cuMemGetAllocationPropertiesFromHandle(AllocationProperties* out, void* handle) {
  const Guard guard(state().lock);
  const auto found = created.find(handle);
  if (found == created.end() || out == nullptr) return invalid_value;
  return *out = found->second->properties, success;
}
