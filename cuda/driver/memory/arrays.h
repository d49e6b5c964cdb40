#pragma once
// CUDA arrays: images whose layout the program does not see. Ours are dense, in memory of the device, so that
// checkers see each texel.
#include <memory>
#include <vector>

#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

struct Array {
  Array3DDescriptor description{};
  sim::Image image;    // of one level
  Pointer memory = 0;  // 0: that of a mipmapped array, whose level it is
};

struct MipmappedArray {
  Array3DDescriptor description{};
  sim::Image image;
  Pointer memory = 0;
  std::vector<std::unique_ptr<Array>> levels;
};

inline bool has(uint32_t flags, uint32_t flag) { return (flags & flag) != 0; }

// Null: no array has this handle.
Array* array_of(const void* handle);
MipmappedArray* mipmapped_of(const void* handle);
// CUarray_format with a number of channels; none for one that the machine has no texels of.
std::optional<sim::TexelFormat> texel_format(uint32_t format, uint32_t channels);
void forget_arrays();    // all of them, when the context is reset
void forget_textures();  // textures.cpp: all objects

}  // namespace palladion::cuda::driver
