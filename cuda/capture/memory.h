#pragma once
// The program's memory as a launch reaches it, copied from the device into a bundle.
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/bundle/bundle.h"
#include "cuda/capture/driver.h"
#include "cuda/capture/textures.h"

namespace palladion::cuda::capture {

struct Range {
  DevicePointer base = 0;
  uint64_t bytes = 0;
  bool host_writes = false;  // pinned or managed: the host can write there while a kernel runs
};

void allocated(DevicePointer base, uint64_t bytes, bool host_writes = false);
void freed(DevicePointer base);
// Those that are there now, by ascending addresses.
std::vector<Range> live_allocations();

bool read_device(DevicePointer from, void* to, uint64_t bytes);

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using HostBytes = std::unique_ptr<std::byte, Free>;
HostBytes host_bytes(uint64_t size);  // null: there is no room

// What a launch reaches: allocations, and texture and surface objects.
class Reached {
 public:
  std::vector<bundle::Buffer> buffers;
  std::vector<LiveObject> objects;

  // The allocations to which these bytes point, and the objects whose handles they are: 8 bytes at each
  // multiple of 8. `ask`: the driver too, which costs a call for each value.
  void add(const void* bytes, uint64_t size, bool ask);
  // What the buffers' contents reach, `depth` steps away at most.
  void follow(int depth, uint64_t most_bytes);
  uint64_t bytes() const;

 private:
  // The allocation that contains this address; 0 bytes: none is known. `ask`: the driver too, which costs a
  // call.
  Range allocation_of(DevicePointer address, bool ask) const;
  void add_memory(DevicePointer address, bool ask);
  void add_object(uint64_t handle);

  std::vector<LiveObject> live_ = live_objects();
  std::vector<Range> allocations_ = live_allocations();
};

// Copies all buffers into the folder, before or after the launch. False: the device or the disk failed.
bool store(std::vector<bundle::Buffer>& buffers, const std::string& folder, bool after);
// The contents of a buffer or of an array, to a file of that name when they are no constant. `before`: those
// before the launch; null: these are them. False: the disk failed.
bool store_contents(std::span<const std::byte> bytes, const std::string& folder, const std::string& name,
                    const bundle::Contents* before, bundle::Contents& out);

// Without them: a constant stays, a seed stands for other contents.
void store_stripped(std::span<const std::byte> bytes, uint64_t seed, bundle::Contents& out);

// The file is complete and on the disk before it has its name.
bool write_file(const std::string& path, const void* bytes, uint64_t size);
void sync_folder(const std::string& path);

}  // namespace palladion::cuda::capture
