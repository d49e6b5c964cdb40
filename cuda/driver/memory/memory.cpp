// Memory: an address is the same for host and device, so pinned and managed memory need no second one. The
// bytes of the device's own memory lie elsewhere in this process: at their address the program has none. A
// kernel reaches what is bound to the machine and nothing else.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cuda/driver/memory/arrays.h"
#include "cuda/driver/order/host_access.h"
#include "cuda/driver/order/written.h"
#include "cuda/driver/sizes.h"
#include "cuda/driver/streams/streams.h"

namespace palladion::cuda::driver {
namespace {

constexpr size_t page = 4096, guard_bytes = 64 * 1024;
// Far from where Linux puts a process' own memory.
#ifdef PLD_SANITIZED  // AddressSanitizer and ThreadSanitizer leave this to the program
constexpr Pointer first_place = 0x5660'0000'0000;
#else
constexpr Pointer first_place = 0x0700'0000'0000;
#endif
constexpr Pointer last_place = first_place + 0x2000'0000'0000;
Pointer next_place = first_place;

size_t allocated_bytes = 0;  // of the device
bool on_device(Origin o) { return o == Origin::device || o == Origin::managed || o == Origin::array; }

const char* name_of(Origin origin) {
  switch (origin) {
    case Origin::device:
      return "device memory";
    case Origin::host:
      return "pinned memory";
    case Origin::managed:
      return "managed memory";
    case Origin::registered:
      return "registered memory";
    case Origin::array:
      return "CUDA array";
    case Origin::mapped:
      return "mapped memory";
  }
  return "";
}

// A range that begins in an allocation must lie in it, and none begins between allocations or in a freed one;
// else it is the program's own memory.
bool inside(State& s, const void* p, size_t bytes) {
  const auto at = reinterpret_cast<Pointer>(p);
  const Block* b = s.block_of(at);
  if (b != nullptr) return fits(at - b->base, bytes, b->size);
  if (const sim::Allocation* a = s.machine->memory().lookup(sim::Address(at)))
    return fits(at - a->base, bytes, a->size);
  return bytes <= SIZE_MAX - at && (at >= next_place || at + bytes <= first_place);
}

// Module variables have addresses of the machine's own, the rest that of the host.
uint8_t* host_of(State& s, const void* p) {
  const auto at = reinterpret_cast<Pointer>(p);
  const Block* const b = s.block_of(at);
  if (b != nullptr && b->machine_view != nullptr) return b->machine_view + (at - b->base);
  if (b == nullptr)
    if (const sim::Allocation* a = s.machine->memory().lookup(sim::Address(at)))
      return a->bytes + (at - a->base);
  return static_cast<uint8_t*>(const_cast<void*>(p));
}

// Null: there is none.
struct Views {
  void* program = nullptr;     // at the allocation's address
  uint8_t* machine = nullptr;  // elsewhere
  sim::ZeroedBytes owned;      // that view, where it is not mapped

  uint8_t* bound() const { return machine != nullptr ? machine : static_cast<uint8_t*>(program); }
  void unmap(size_t mapped) const {
    if (program != nullptr) munmap(program, mapped);
    if (machine != nullptr && owned == nullptr) munmap(machine, mapped);
  }
};

// At the address, or where there is room.
void* map_pages(Pointer at, size_t mapped, int how, int file) {
  const int place = at != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* const p = mmap(to(at), mapped, PROT_READ | PROT_WRITE, how | MAP_NORESERVE | place, file, 0);
  return p != MAP_FAILED ? p : nullptr;
}

// The device's own: a host that uses the address gets a segmentation fault, as beside a GPU. Small ones are
// of the heap: a process may have 65530 mappings.
Views for_machine(size_t mapped) {
  sim::ZeroedBytes bytes = sim::zeroed_bytes(mapped);
  uint8_t* const machine = bytes.get();
  return {nullptr, machine, std::move(bytes)};
}

Views map_once(Pointer at, size_t mapped) {
  return {map_pages(at, mapped, MAP_PRIVATE | MAP_ANONYMOUS, -1), nullptr, nullptr};
}

// The machine's view stays open while pages of the program's are closed.
Views map_twice(Pointer at, size_t mapped) {
  const int file = memfd_create("palladion", MFD_CLOEXEC);
  if (file < 0) return {};
  Views v;
  if (ftruncate(file, static_cast<off_t>(mapped)) == 0) {
    v.program = map_pages(at, mapped, MAP_SHARED, file);
    v.machine = static_cast<uint8_t*>(map_pages(0, mapped, MAP_SHARED, file));
    if (v.program == nullptr || v.machine == nullptr) v.unmap(mapped), v = {};
  }
  close(file);
  return v;
}

}  // namespace

bool is_given_out(Pointer p) { return p >= first_place && p < next_place; }

bool is_known(const void* p) {
  State& s = state();
  const auto at = reinterpret_cast<Pointer>(p);
  return s.block_of(at) != nullptr || s.machine->memory().lookup(sim::Address(at)) != nullptr;
}

bool is_pinned_or_managed(const void* p) {
  const Block* const b = state().block_of(reinterpret_cast<Pointer>(p));
  return b != nullptr && reaches_host(b->origin);
}

Pointer take_addresses(size_t bytes, size_t alignment) {
  const size_t room = last_place - next_place;
  if (bytes > room || alignment > room || bytes + alignment + 2 * guard_bytes > room) return 0;
  const Pointer at = (next_place + alignment - 1) / alignment * alignment;
  next_place = at + (bytes + 2 * guard_bytes - 1) / guard_bytes * guard_bytes;
  return at;
}

namespace {

// Memory of the host is not the device's, and no host has more than this.
size_t room_of(Origin origin) {
  constexpr size_t most_of_host = size_t{1} << 43;
  const auto all = static_cast<size_t>(state().arch->memory_bytes);
  return on_device(origin) ? all - std::min(all, used_bytes()) : most_of_host;
}

}  // namespace

Status put_memory(Pointer at, size_t bytes, Origin origin, const char* name) {
  State& s = state();
  if (bytes > room_of(origin)) return out_of_memory;
  const size_t mapped = (bytes + page - 1) / page * page;
  const bool shared = reaches_host(origin);
  Views views;
  try {
    views = !shared ? for_machine(mapped) : judges() ? map_twice(at, mapped) : map_once(at, mapped);
  } catch (const std::bad_alloc&) {
  }
  if (views.bound() == nullptr) return out_of_memory;
  if (!s.machine->memory().bind_at(sim::Address(at), {views.bound(), bytes},
                                   name != nullptr ? name : name_of(origin), false)) {
    views.unmap(mapped);
    return out_of_memory;
  }
  watch_host();
  if (!shared) follow(at, bytes);
  if (shared) s.machine->memory().share_with_host(sim::Address(at));
  if (on_device(origin)) allocated_bytes += bytes;
  s.blocks[at] = {.base = at,
                  .size = bytes,
                  .mapped = mapped,
                  .machine_view = views.machine,
                  .owned = std::move(views.owned),
                  .origin = origin,
                  .id = s.next_id++,
                  .owner = current()};
  return success;
}

Status allocate(Pointer& out, size_t bytes, Origin origin, const char* name) {
  if (bytes == 0) return invalid_value;
  if (bytes > room_of(origin)) return out_of_memory;
  const Pointer at = take_addresses(bytes, guard_bytes);
  if (at == 0) return out_of_memory;
  const Status status = put_memory(at, bytes, origin, name);
  if (status == success) out = at;
  return status;
}

size_t used_bytes() { return allocated_bytes + created_bytes(); }

Status release(Pointer p) {
  State& s = state();
  if (p == 0) return success;
  const auto at = s.blocks.find(p);
  if (at == s.blocks.end() || at->second.origin == Origin::mapped) return invalid_value;
  s.machine->memory().release(sim::Address(p));
  Block& b = at->second;
  if (b.mapped != 0)
    Views{reaches_host(b.origin) ? to(p) : nullptr, b.machine_view, std::move(b.owned)}.unmap(b.mapped);
  forget(p);
  forget_in_pool(p);
  if (at->second.origin == Origin::managed) forget_advice(p, at->second.size);
  forget_in_graphs(p);
  if (on_device(b.origin)) allocated_bytes -= b.size;
  s.blocks.erase(at);
  return success;
}

Status copy(void* to, const void* from, size_t bytes) {
  State& s = state();
  if (bytes == 0) return success;
  if (to == nullptr || from == nullptr || !inside(s, to, bytes) || !inside(s, from, bytes))
    return invalid_value;
  std::memmove(host_of(s, to), host_of(s, from), bytes);
  moved(reinterpret_cast<Pointer>(to), reinterpret_cast<Pointer>(from), bytes);
  return success;
}

namespace {

// One side of a copy: row (y, z) begins at base + z * slice + y * pitch.
struct Side {
  uint8_t* base = nullptr;
  size_t pitch = 0, slice = 0;
  uint8_t* row(size_t y, size_t z) const { return base + z * slice + y * pitch; }
};

// The place in an array; none: there is no such array, or it is smaller than the copy.
std::optional<Side> array_side(const void* handle, size_t x, size_t y, size_t z, const Memcpy3D& c) {
  const Array* a = array_of(handle);
  if (a == nullptr) return std::nullopt;
  const sim::ImageLevel& level = a->image.levels.front();
  if (!fits(x, c.width, size_t{level.width} * a->image.format.bytes()) || !fits(y, c.height, level.height) ||
      !fits(z, c.depth, level.depth))
    return std::nullopt;
  auto* base = reinterpret_cast<uint8_t*>(uint64_t{level.address + x + y * level.pitch + z * level.slice});
  return Side{base, level.pitch, level.slice};
}

std::optional<Side> memory_side(uint8_t* base, size_t pitch, size_t height, size_t x, size_t y, size_t z,
                                const Memcpy3D& c) {
  if (pitch == 0) pitch = c.width;
  if (height == 0) height = c.height;
  if (base == nullptr || (c.height > 1 && pitch < c.width)) return std::nullopt;
  const Size slice = Size(pitch) * height, offset = Size(x) + Size(y) * pitch + Size(z) * slice;
  const Size end = offset + Size(c.depth - 1) * slice + Size(c.height - 1) * pitch + c.width;
  if (!inside(state(), base, end.n)) return std::nullopt;  // nothing is copied of a copy that leaves it
  return Side{base + offset.n, pitch, slice.n};
}

// What is said to be memory of the device is.
bool is_as_said(int type, Pointer p) { return type != memory_device || is_known(driver::to(p)); }

std::optional<Side> source(const Memcpy3D& c) {
  if (c.src_type == memory_array) return array_side(c.src_array, c.src_x, c.src_y, c.src_z, c);
  const void* base = c.src_type == memory_host ? c.src_host : reinterpret_cast<const void*>(c.src_device);
  return memory_side(static_cast<uint8_t*>(const_cast<void*>(base)), c.src_pitch, c.src_height, c.src_x,
                     c.src_y, c.src_z, c);
}

std::optional<Side> destination(const Memcpy3D& c) {
  if (c.dst_type == memory_array) return array_side(c.dst_array, c.dst_x, c.dst_y, c.dst_z, c);
  void* base = c.dst_type == memory_host ? c.dst_host : reinterpret_cast<void*>(c.dst_device);
  return memory_side(static_cast<uint8_t*>(base), c.dst_pitch, c.dst_height, c.dst_x, c.dst_y, c.dst_z, c);
}

}  // namespace

Status copy_3d(const Memcpy3D& c) {
  if (c.width == 0 || c.height == 0 || c.depth == 0) return success;
  if (c.src_lod != 0 || c.dst_lod != 0) return invalid_value;
  const auto from = source(c), to = destination(c);
  if (!is_as_said(c.src_type, c.src_device) || !is_as_said(c.dst_type, c.dst_device)) return invalid_value;
  if (!from || !to) return invalid_value;
  for (size_t z = 0; z < c.depth; ++z)
    for (size_t y = 0; y < c.height; ++y) {
      const Status status = copy(to->row(y, z), from->row(y, z), c.width);
      if (status != success) return status;
    }
  return success;
}

order::Touched touched_by(const Memcpy3D& c) {
  order::Touched t;
  const auto from = source(c), to = destination(c);
  if (!from || !to || c.width == 0 || c.height == 0) return t;
  for (size_t z = 0; z < c.depth; ++z)
    for (size_t y = 0; y < c.height; ++y) {
      const auto read = reinterpret_cast<Pointer>(from->row(y, z)),
                 written = reinterpret_cast<Pointer>(to->row(y, z));
      t.read.add(read, read + c.width);
      t.written.add(written, written + c.width);
    }
  return t;
}

order::Touched touched_by(const MemsetNode& m) {
  order::Touched t;
  for (size_t y = 0; m.width != 0 && y < m.height; ++y)
    t.written.add(m.dst + y * m.pitch, m.dst + y * m.pitch + m.width * m.element_bytes);
  return t;
}

order::Touched touched_by_owner(Pointer p) {
  order::Touched t;
  if (const Block* const b = state().block_of(p)) t.written.add(b->base, b->base + b->size);
  return t;
}

std::string text_of(const Memcpy3D& c) {
  const auto where = [](const std::optional<Side>& side) {
    const Block* const b = side ? state().block_of(reinterpret_cast<Pointer>(side->base)) : nullptr;
    return b != nullptr                   ? name_of(b->origin)
           : side && is_known(side->base) ? "device memory"
                                          : "pageable memory";
  };
  return fmt::format("copy of {} bytes from {} to {}", (Size(c.width) * c.height * c.depth).n,
                     where(source(c)), where(destination(c)));
}

namespace {

template <class T>
void repeat(uint8_t* bytes, T value, size_t count) {
  for (size_t i = 0; i < count; ++i) std::memcpy(bytes + i * sizeof value, &value, sizeof value);
}

}  // namespace

Status fill(Pointer to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height) {
  State& s = state();
  if (element != 1 && element != 2 && element != 4) return invalid_value;
  if (width == 0 || height == 0) return success;
  const Size row_bytes = Size(width) * element;
  if (to % element != 0 || (height > 1 && pitch < row_bytes.n)) return invalid_value;
  if (!is_known(driver::to(to)) || !inside(s, driver::to(to), (Size(height - 1) * pitch + row_bytes).n))
    return invalid_value;
  for (size_t y = 0; y < height; ++y) {
    auto* row = reinterpret_cast<uint8_t*>(to + y * pitch);
    uint8_t* bytes = host_of(s, row);
    wrote(to + y * pitch, width * element);
    if (element == 1)
      std::memset(bytes, static_cast<int>(value), width);
    else
      element == 2 ? repeat(bytes, static_cast<uint16_t>(value), width) : repeat(bytes, value, width);
  }
  return success;
}

}  // namespace palladion::cuda::driver
