#include "capture/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace palladion::capture {
namespace {

// Made on first use and never destroyed: the program calls the driver while it ends, too.
struct Allocations {
  std::mutex lock;
  std::map<DevicePointer, uint64_t> all;
};
Allocations& allocations() {
  static auto* const a = new Allocations;
  return *a;
}

bool overlaps(const bundle::Buffer& b, const Range& r) {
  return r.base < b.address + b.bytes && b.address < r.base + r.bytes;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using HostBytes = std::unique_ptr<std::byte, Free>;
HostBytes host_bytes(uint64_t size) { return HostBytes(static_cast<std::byte*>(std::malloc(size + 1))); }

// Whether 64 bits repeat through all of it.
bool repeats(const std::byte* bytes, uint64_t size) {
  return size >= 16 && size % 8 == 0 && std::memcmp(bytes, bytes + 8, size - 8) == 0;
}

}  // namespace

void allocated(DevicePointer base, uint64_t bytes) {
  auto& a = allocations();
  const std::lock_guard guard(a.lock);
  if (bytes != 0) a.all[base] = bytes;
}

void freed(DevicePointer base) {
  auto& a = allocations();
  const std::lock_guard guard(a.lock);
  a.all.erase(base);
}

Range allocation_of(DevicePointer address, bool ask) {
  if (address < 0x10000 || address >> 57 != 0) return {};
  {
    auto& a = allocations();
    const std::lock_guard guard(a.lock);
    auto after = a.all.upper_bound(address);
    if (after != a.all.begin()) {
      --after;
      if (address - after->first < after->second) return {after->first, after->second};
    }
  }
  Range r;
  size_t bytes = 0;
  if (!ask || Call<Status(DevicePointer*, size_t*, DevicePointer)>::to("cuMemGetAddressRange_v2", &r.base,
                                                                       &bytes, address) != success)
    return {};
  r.bytes = bytes;
  return r;
}

bool read_device(DevicePointer from, void* to, uint64_t bytes) {
  return Call<Status(void*, DevicePointer, size_t)>::to("cuMemcpyDtoH_v2", to, from, bytes) == success;
}

void add_pointed(std::vector<bundle::Buffer>& buffers, const void* bytes, uint64_t size, bool ask) {
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    DevicePointer value;
    std::memcpy(&value, static_cast<const char*>(bytes) + at, 8);
    const Range r = allocation_of(value, ask);
    if (r.bytes == 0) continue;
    if (std::ranges::any_of(buffers, [&](const bundle::Buffer& b) { return overlaps(b, r); })) continue;
    buffers.push_back({.name = "buffer" + std::to_string(buffers.size()),
                       .address = r.base,
                       .bytes = r.bytes,
                       .before = {},
                       .after = {}});
  }
}

void add_reachable(std::vector<bundle::Buffer>& buffers, int depth, uint64_t most_bytes) {
  size_t first = 0;
  for (int step = 0; step < depth && first < buffers.size(); ++step) {
    const size_t end = buffers.size();
    for (; first < end && bytes_of(buffers) <= most_bytes; ++first) {
      const uint64_t size = buffers[first].bytes;
      const HostBytes host = host_bytes(size);
      if (host == nullptr || !read_device(buffers[first].address, host.get(), size)) continue;
      add_pointed(buffers, host.get(), size, false);
    }
    first = end;
  }
}

uint64_t bytes_of(const std::vector<bundle::Buffer>& buffers) {
  uint64_t sum = 0;
  for (const auto& b : buffers) sum += b.bytes;
  return sum;
}

bool write_file(const std::string& path, const void* bytes, uint64_t size) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool whole = size == 0 || std::fwrite(bytes, size, 1, file) == 1;
  return (std::fclose(file) == 0) && whole;
}

bool store(std::vector<bundle::Buffer>& buffers, const std::string& folder, bool after) {
  using Kind = bundle::Contents::Kind;
  bool whole = true;
  for (bundle::Buffer& b : buffers) {
    const HostBytes host = host_bytes(b.bytes);
    if (host == nullptr || !read_device(b.address, host.get(), b.bytes)) {
      whole = false;
      continue;
    }
    bundle::Contents c;
    // The sum of constant contents is not needed; it is kept in memory to see that nothing changed.
    c.checksum = bundle::checksum({host.get(), b.bytes});
    if (after && c.checksum == b.before.checksum && b.before.kind != Kind::none) {
      b.after.kind = Kind::same;
      continue;
    }
    if (repeats(host.get(), b.bytes)) {
      c.kind = Kind::repeated;
      std::memcpy(&c.value, host.get(), 8);
    } else {
      c.kind = Kind::file;
      const auto index = static_cast<size_t>(&b - buffers.data());
      c.file = "buffer" + std::to_string(index) + (after ? ".after" : ".before");
      if (!write_file(folder + "/" + c.file, host.get(), b.bytes)) {
        whole = false;
        c = {};
      }
    }
    (after ? b.after : b.before) = c;
  }
  return whole;
}

}  // namespace palladion::capture
