#pragma once
// The program's memory as a launch reaches it, copied from the device into a bundle.
#include <string>
#include <vector>

#include "bundle/bundle.h"
#include "capture/driver.h"

namespace palladion::capture {

struct Range {
  DevicePointer base = 0;
  uint64_t bytes = 0;
};

void allocated(DevicePointer base, uint64_t bytes);
void freed(DevicePointer base);
// The allocation that contains this address; 0 bytes: none is known. `ask`: the driver too, which costs a
// call.
Range allocation_of(DevicePointer address, bool ask);

bool read_device(DevicePointer from, void* to, uint64_t bytes);

// Adds the allocations to which these bytes point, 8 bytes at each multiple of 8.
void add_pointed(std::vector<bundle::Buffer>& buffers, const void* bytes, uint64_t size, bool ask);
// Those that the buffers' contents point to, `depth` steps away at most.
void add_reachable(std::vector<bundle::Buffer>& buffers, int depth, uint64_t most_bytes);
uint64_t bytes_of(const std::vector<bundle::Buffer>& buffers);

// Copies all buffers into the folder, before or after the launch. False: the device or the disk failed.
bool store(std::vector<bundle::Buffer>& buffers, const std::string& folder, bool after);

bool write_file(const std::string& path, const void* bytes, uint64_t size);

}  // namespace palladion::capture
