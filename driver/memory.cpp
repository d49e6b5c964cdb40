// Memory: every allocation is memory of this process at the same address for host and device, so pinned and
// managed memory need no second address. A kernel reaches what is bound to the machine and nothing else.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "driver/state.h"

namespace palladion::driver {
namespace {

constexpr size_t page = 4096, guard_bytes = 64 * 1024;
Pointer next_place = 0x0700'0000'0000;  // far from where Linux puts a process' own memory

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
  }
  return "";
}

// A range that begins in an allocation must lie in it; else it is the program's own memory.
bool inside(State& s, const void* p, size_t bytes) {
  const auto at = reinterpret_cast<Pointer>(p);
  const Block* b = s.block_of(at);
  if (b != nullptr) return at + bytes <= b->base + b->size;
  if (const sim::Allocation* a = s.machine->memory().lookup(at)) return at + bytes <= a->base + a->size;
  return true;
}

// Module variables have addresses of the machine's own, the rest that of the host.
uint8_t* host_of(State& s, const void* p) {
  const auto at = reinterpret_cast<Pointer>(p);
  if (s.block_of(at) == nullptr)
    if (const sim::Allocation* a = s.machine->memory().lookup(at)) return a->bytes + (at - a->base);
  return static_cast<uint8_t*>(const_cast<void*>(p));
}

}  // namespace

Status allocate(Pointer& out, size_t bytes, Origin origin, const char* name) {
  State& s = state();
  if (bytes == 0) return invalid_value;
  if (bytes > static_cast<size_t>(s.arch->memory_bytes)) return out_of_memory;
  const size_t mapped = (bytes + page - 1) / page * page;
  void* p = mmap(reinterpret_cast<void*>(next_place), mapped, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (p == MAP_FAILED) return out_of_memory;
  const size_t room = (mapped + guard_bytes + guard_bytes - 1) / guard_bytes * guard_bytes;
  next_place += room;
  out = reinterpret_cast<Pointer>(p);
  if (!s.machine->memory().bind_at(out, {static_cast<uint8_t*>(p), bytes},
                                   name != nullptr ? name : name_of(origin), false)) {
    munmap(p, mapped);
    return out_of_memory;
  }
  s.blocks[out] = {.base = out, .size = bytes, .mapped = mapped, .origin = origin, .id = s.next_id++};
  return success;
}

Status release(Pointer p) {
  State& s = state();
  if (p == 0) return success;
  const auto at = s.blocks.find(p);
  if (at == s.blocks.end()) return invalid_value;
  s.machine->memory().release(p);
  if (at->second.mapped != 0) munmap(reinterpret_cast<void*>(p), at->second.mapped);
  s.blocks.erase(at);
  return success;
}

Status copy(void* to, const void* from, size_t bytes) {
  State& s = state();
  if (bytes == 0) return success;
  if (to == nullptr || from == nullptr || !inside(s, to, bytes) || !inside(s, from, bytes))
    return invalid_value;
  std::memmove(host_of(s, to), host_of(s, from), bytes);
  return success;
}

Status copy_3d(const Memcpy3D& c) {
  if (c.src_type == memory_array || c.dst_type == memory_array) return unsupported("copies of CUDA arrays");
  const auto* from = c.src_type == memory_host ? static_cast<const uint8_t*>(c.src_host)
                                               : reinterpret_cast<const uint8_t*>(c.src_device);
  auto* to = c.dst_type == memory_host ? static_cast<uint8_t*>(c.dst_host)
                                       : reinterpret_cast<uint8_t*>(c.dst_device);
  const size_t from_pitch = c.src_pitch != 0 ? c.src_pitch : c.width;
  const size_t to_pitch = c.dst_pitch != 0 ? c.dst_pitch : c.width;
  const size_t from_height = c.src_height != 0 ? c.src_height : c.height;
  const size_t to_height = c.dst_height != 0 ? c.dst_height : c.height;
  for (size_t z = 0; z < c.depth; ++z)
    for (size_t y = 0; y < c.height; ++y) {
      const Status status =
          copy(to + ((z + c.dst_z) * to_height + y + c.dst_y) * to_pitch + c.dst_x,
               from + ((z + c.src_z) * from_height + y + c.src_y) * from_pitch + c.src_x, c.width);
      if (status != success) return status;
    }
  return success;
}

Status fill(Pointer to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height) {
  State& s = state();
  if (element != 1 && element != 2 && element != 4) return invalid_value;
  for (size_t y = 0; y < height; ++y) {
    auto* row = reinterpret_cast<uint8_t*>(to + y * pitch);
    if (width == 0) continue;
    const auto at = reinterpret_cast<Pointer>(row);
    if (s.block_of(at) == nullptr && s.machine->memory().lookup(at) == nullptr) return invalid_value;
    if (!inside(s, row, width * element)) return invalid_value;
    uint8_t* bytes = host_of(s, row);
    if (element == 1)
      std::memset(bytes, static_cast<int>(value), width);
    else
      for (size_t x = 0; x < width; ++x) std::memcpy(bytes + x * element, &value, element);
  }
  return success;
}

}  // namespace palladion::driver
