#include "cuda/capture/memory.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/capture/recorder.h"

namespace palladion::cuda::capture {
namespace {

// Made on first use and never destroyed: the program calls the driver while it ends, too.
struct Allocations {
  std::mutex lock;
  std::map<DevicePointer, Range> all;  // by their base
};
Allocations& allocations() {
  static auto* const a = new Allocations;
  return *a;
}

bool overlaps(const bundle::Buffer& b, const Range& r) {
  return r.base < b.address + b.bytes && b.address < r.base + r.bytes;
}

// Whether 64 bits repeat through all of it.
bool repeats(const std::byte* bytes, uint64_t size) {
  return size >= 16 && size % 8 == 0 && std::memcmp(bytes, bytes + 8, size - 8) == 0;
}

constexpr int level = 1;  // of zstd: the fastest that its frames are usually made with
constexpr uint64_t compressed_from = uint64_t{64} << 10;  // bytes

constexpr uint64_t threads_from = uint64_t{8} << 20;
int threads() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U)); }

// A frame must save one byte in 16. Four samples tell whether it will, so that numbers without a pattern cost
// little.
bool shrinks(std::span<const std::byte> bytes) {
  constexpr size_t sample = size_t{16} << 10;
  std::vector<std::byte> frame(ZSTD_compressBound(sample));
  size_t sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    const size_t got = ZSTD_compress(frame.data(), frame.size(),
                                     bytes.data() + (bytes.size() - sample) / 3 * i, sample, level);
    sum += ZSTD_isError(got) != 0 ? sample : got;
  }
  return sum < 4 * sample / 16 * 15;
}

// 0 bytes: it does not shrink.
uint64_t compress(std::span<const std::byte> bytes, HostBytes& frame) {
  if (bytes.size() < compressed_from || !shrinks(bytes)) return 0;
  const uint64_t room = bytes.size() / 16 * 15;
  frame = host_bytes(room);
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (frame == nullptr || context == nullptr) return 0;
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  // Threads are an option of zstd's build: without them it is one.
  if (bytes.size() >= threads_from) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_nbWorkers, threads());
  const size_t got = ZSTD_compress2(context.get(), frame.get(), room, bytes.data(), bytes.size());
  return ZSTD_isError(got) != 0 ? 0 : got;
}

}  // namespace

HostBytes host_bytes(uint64_t size) { return HostBytes(static_cast<std::byte*>(std::malloc(size + 1))); }

void allocated(DevicePointer base, uint64_t bytes, bool host_writes) {
  auto& a = allocations();
  const std::lock_guard guard(a.lock);
  if (bytes != 0) a.all[base] = {base, bytes, host_writes};
}

void freed(DevicePointer base) {
  auto& a = allocations();
  const std::lock_guard guard(a.lock);
  a.all.erase(base);
}

std::vector<Range> live_allocations() {
  auto& a = allocations();
  const std::lock_guard guard(a.lock);
  std::vector<Range> out;
  for (const auto& [base, range] : a.all) out.push_back(range);
  return out;
}

bool read_device(DevicePointer from, void* to, uint64_t bytes) {
  return Call<Status(void*, DevicePointer, size_t)>::to("cuMemcpyDtoH_v2", to, from, bytes) == success;
}

// Most of the values are no addresses: what lies below the first allocation or above the last needs no
// search.
Range Reached::allocation_of(DevicePointer address, bool ask) const {
  if (address < 0x10000 || address >> 57 != 0) return {};
  if (!allocations_.empty() && address >= allocations_.front().base &&
      address < allocations_.back().base + allocations_.back().bytes) {
    const auto after = std::ranges::upper_bound(allocations_, address, {}, &Range::base);
    const Range& before = *(after - 1);
    if (address - before.base < before.bytes) return before;
  }
  Range r;
  size_t bytes = 0;
  if (!ask || Call<Status(DevicePointer*, size_t*, DevicePointer)>::to("cuMemGetAddressRange_v2", &r.base,
                                                                       &bytes, address) != success)
    return {};
  r.bytes = bytes;
  return r;
}

void Reached::add_memory(DevicePointer address, bool ask) {
  const Range r = allocation_of(address, ask);
  if (r.bytes == 0) return;
  if (std::ranges::any_of(buffers, [&](const bundle::Buffer& b) { return overlaps(b, r); })) return;
  buffers.push_back({.name = "buffer" + std::to_string(buffers.size()),
                     .address = r.base,
                     .bytes = r.bytes,
                     .host_writes = r.host_writes,
                     .before = {},
                     .after = {}});
}

void Reached::add_object(uint64_t handle) {
  auto at = std::ranges::lower_bound(live_, handle, {}, &LiveObject::handle);
  while (at != live_.end() && at->handle == handle) {
    const LiveObject object = *at;
    at = live_.erase(at);
    objects.push_back(object);
    add_memory(memory_of(object), true);
  }
}

void Reached::add(const void* bytes, uint64_t size, bool ask) {
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    DevicePointer value;
    std::memcpy(&value, static_cast<const char*>(bytes) + at, 8);
    if (!live_.empty()) add_object(value);
    add_memory(value, ask);
  }
}

void Reached::follow(int depth, uint64_t most_bytes) {
  size_t first = 0;
  for (int step = 0; step < depth && first < buffers.size(); ++step) {
    const size_t end = buffers.size();
    for (; first < end && this->bytes() <= most_bytes; ++first) {
      const uint64_t size = buffers[first].bytes;
      const HostBytes host = host_bytes(size);
      if (host == nullptr || !read_device(buffers[first].address, host.get(), size)) continue;
      add(host.get(), size, false);
    }
    first = end;
  }
}

uint64_t Reached::bytes() const {
  uint64_t sum = 0;
  for (const auto& b : buffers) sum += b.bytes;
  return sum;
}

bool write_file(const std::string& path, const void* bytes, uint64_t size) {
  const std::string aside = path + ".part";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return false;
  bool whole = true;
  for (uint64_t at = 0; whole && at < size;) {
    const ssize_t put = ::write(file, static_cast<const char*>(bytes) + at, size - at);
    if (put > 0) at += static_cast<uint64_t>(put);
    whole = put > 0 || (put < 0 && errno == EINTR);
  }
  whole = whole && ::fsync(file) == 0;
  whole = ::close(file) == 0 && whole && ::rename(aside.c_str(), path.c_str()) == 0;
  if (!whole) ::unlink(aside.c_str());
  return whole;
}

void sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

bool store_contents(std::span<const std::byte> bytes, const std::string& folder, const std::string& name,
                    const bundle::Contents* before, bundle::Contents& out) {
  using Kind = bundle::Contents::Kind;
  out = {};
  // The sum of constant contents is not needed; it is kept in memory to see that nothing changed.
  out.checksum = bundle::checksum(bytes);
  if (before != nullptr && out.checksum == before->checksum && before->kind != Kind::none) {
    out.kind = Kind::same;
    return true;
  }
  if (repeats(bytes.data(), bytes.size())) {
    out.kind = Kind::repeated;
    std::memcpy(&out.value, bytes.data(), 8);
    return true;
  }
  out.kind = Kind::file;
  out.file = name + (before != nullptr ? ".after" : ".before");
  HostBytes frame;
  out.compressed = compress(bytes, frame);
  if (out.compressed != 0) {
    out.file += ".zst";
    bytes = {frame.get(), out.compressed};
  }
  if (write_file(folder + "/" + out.file, bytes.data(), bytes.size())) return true;
  out = {};
  return false;
}

void store_stripped(std::span<const std::byte> bytes, uint64_t seed, bundle::Contents& out) {
  out = {};
  const bool constant = repeats(bytes.data(), bytes.size());
  out.kind = constant ? bundle::Contents::Kind::repeated : bundle::Contents::Kind::seed;
  out.value = seed;
  if (constant) std::memcpy(&out.value, bytes.data(), 8);
}

namespace {

// A small buffer that holds the address of another, without which the launch cannot be replayed.
bool is_table(const std::vector<bundle::Buffer>& buffers, std::span<const std::byte> bytes) {
  if (bytes.size() > bundle::most_of_table) return false;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, 8);
    if (std::ranges::any_of(buffers, [&](const bundle::Buffer& b) { return value - b.address < b.bytes; }))
      return true;
  }
  return false;
}

}  // namespace

bool store(std::vector<bundle::Buffer>& buffers, const std::string& folder, bool after) {
  bool whole = true;
  for (size_t i = 0; i < buffers.size(); ++i) {
    bundle::Buffer& b = buffers[i];
    const HostBytes host = host_bytes(b.bytes);
    const bool read = host != nullptr && read_device(b.address, host.get(), b.bytes);
    if (read && settings().strip && !is_table(buffers, {host.get(), b.bytes})) {
      store_stripped({host.get(), b.bytes}, i + 1, b.before);
      continue;
    }
    const bool stored = read && store_contents({host.get(), b.bytes}, folder, "buffer" + std::to_string(i),
                                               after ? &b.before : nullptr, after ? b.after : b.before);
    whole = whole && stored;
  }
  return whole;
}

}  // namespace palladion::cuda::capture
