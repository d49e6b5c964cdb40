#pragma once
// malloc and free of kernels: blocks in one array of GMEM, with their bookkeeping in the array itself, so
// that a snapshot of GMEM holds it. Called at quantum boundaries only.
#include <cstdint>
#include <span>

namespace palladion::sim {

// The offset of a block of `size` bytes, aligned to 16; 0: there is no room.
uint64_t heap_allocate(std::span<uint8_t> heap, uint64_t size);
// False when no block begins at the offset.
bool heap_release(std::span<uint8_t> heap, uint64_t offset);

}  // namespace palladion::sim
