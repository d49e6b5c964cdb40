// CUDA arrays: made, asked for, and copied from and to.
#include <initializer_list>

#include "cuda/driver/runtime/state.h"
#include "cuda/driver/sizes.h"

namespace palladion::cuda::runtime {

// Channels of one width, as the driver's formats have them.
Status format_of(const ChannelDesc& d, Format& out) {
  out = {};
  if (d.x == 0 || d.kind < channel_signed) return invalid_channel_descriptor;
  if (d.kind > channel_float) return unsupported("arrays of normalized, compressed or planar formats");
  for (const int bits : {d.x, d.y, d.z, d.w}) {
    if (bits != 0 && bits != d.x) return invalid_channel_descriptor;
    out.channels += bits != 0 ? 1 : 0;
  }
  if (out.channels == 3) return invalid_channel_descriptor;
  constexpr uint32_t formats[3][3] = {{driver::format_s8, driver::format_s16, driver::format_s32},
                                      {driver::format_u8, driver::format_u16, driver::format_u32},
                                      {0, driver::format_f16, driver::format_f32}};
  const int width = d.x == 8 ? 0 : d.x == 16 ? 1 : d.x == 32 ? 2 : -1;
  if (width < 0 || formats[d.kind][width] == 0) return invalid_channel_descriptor;
  out.format = formats[d.kind][width];
  out.bytes = static_cast<size_t>(d.x / 8) * out.channels;
  return success;
}

namespace {

ChannelDesc channels_of(const Format& f) {
  const int kind = f.format == driver::format_f16 || f.format == driver::format_f32 ? channel_float
                   : f.format >= driver::format_s8                                  ? channel_signed
                                                                                    : channel_unsigned;
  const int bits = static_cast<int>(f.bytes / f.channels * 8);
  return {bits, f.channels > 1 ? bits : 0, f.channels > 2 ? bits : 0, f.channels > 3 ? bits : 0, kind};
}

size_t bytes_of_format(uint32_t format) {
  switch (format) {
    case driver::format_u8:
    case driver::format_s8:
      return 1;
    case driver::format_u16:
    case driver::format_s16:
    case driver::format_f16:
      return 2;
    default:
      return 4;
  }
}

Status described(const ChannelDesc& desc, const Extent& e, unsigned flags, driver::Array3DDescriptor& out) {
  Format f;
  const Status status = format_of(desc, f);
  out = {e.width, e.height, e.depth, f.format, f.channels, flags};
  return status;
}

Status create_array(Array* out, const ChannelDesc* desc, const Extent& e, unsigned flags) {
  if (out == nullptr || desc == nullptr) return driver::invalid_value;
  driver::Array3DDescriptor d{};
  const Status status = described(*desc, e, flags, d);
  return status != success ? status : cuArray3DCreate_v2(out, &d);
}

Status create_mipmapped(MipmappedArray* out, const ChannelDesc* desc, const Extent& e, unsigned levels,
                        unsigned flags) {
  if (out == nullptr || desc == nullptr) return driver::invalid_value;
  driver::Array3DDescriptor d{};
  const Status status = described(*desc, e, flags, d);
  return status != success ? status : cuMipmappedArrayCreate(out, &d, levels);
}

Status about_array(ChannelDesc* desc, Extent* extent, unsigned* flags, const void* array) {
  driver::Array3DDescriptor d{};
  Format f;
  const Status status = array_of(array, d, f);
  if (status != success) return status;
  if (desc != nullptr) *desc = channels_of(f);
  if (extent != nullptr) *extent = {d.width, d.height, d.depth};
  if (flags != nullptr) *flags = d.flags;
  return success;
}

// A side of a copy of rows: an array from a byte of a row on, or other memory with a pitch.
struct Side {
  void* array;
  size_t x, y;
  const void* ptr;
  size_t pitch;
};

Status copy_rows(const Side& to, const Side& from, size_t width, size_t height, Stream stream, bool async) {
  if ((to.array == nullptr && width > to.pitch) || (from.array == nullptr && width > from.pitch))
    return invalid_pitch_value;
  Memcpy3D c{};
  c.src_x = from.x, c.src_y = from.y, c.src_array = from.array, c.src_pitch = from.pitch;
  c.src_type = from.array != nullptr ? driver::memory_array : driver::memory_unified;
  c.src_device = reinterpret_cast<Pointer>(from.ptr);
  c.dst_x = to.x, c.dst_y = to.y, c.dst_array = to.array, c.dst_pitch = to.pitch;
  c.dst_type = to.array != nullptr ? driver::memory_array : driver::memory_unified;
  c.dst_device = reinterpret_cast<Pointer>(to.ptr);
  c.width = width, c.height = height, c.depth = 1;
  return async ? cuMemcpy3DAsync_v2(&c, stream) : cuMemcpy3D_v2(&c);
}

// Where a byte of a row lies in the order of an array's elements.
Status place_of(const void* array, size_t x, size_t y, size_t& offset) {
  driver::Array3DDescriptor d{};
  Format f;
  const Status status = array_of(array, d, f);
  offset = (driver::Size(y) * d.width * f.bytes + x).n;
  return status;
}

Status bytes_to_array(Array to, size_t x, size_t y, const void* from, size_t bytes, Stream stream) {
  size_t offset = 0;
  const Status status = place_of(to, x, y, offset);
  return status != success ? status : cuMemcpyHtoAAsync_v2(to, offset, from, bytes, stream);
}

Status bytes_from_array(void* to, Array from, size_t x, size_t y, size_t bytes, Stream stream) {
  size_t offset = 0;
  const Status status = place_of(from, x, y, offset);
  return status != success ? status : cuMemcpyAtoHAsync_v2(to, from, offset, bytes, stream);
}

Status bytes_between(Array to, size_t to_x, size_t to_y, Array from, size_t x, size_t y, size_t bytes) {
  size_t to_offset = 0, offset = 0;
  if (const Status s = place_of(to, to_x, to_y, to_offset)) return s;
  if (const Status s = place_of(from, x, y, offset)) return s;
  return cuMemcpyAtoA_v2(to, to_offset, from, offset, bytes);
}

}  // namespace

Status array_of(const void* array, driver::Array3DDescriptor& about, Format& out) {
  const Status status = cuArray3DGetDescriptor_v2(&about, array);
  out = {about.format, about.channels, bytes_of_format(about.format) * about.channels};
  return status;
}

}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;

extern "C" __attribute__((visibility("default"))) ChannelDesc cudaCreateChannelDesc(int x, int y, int z,
                                                                                    int w, int kind) {
  return {x, y, z, w, kind};
}
PLD_CALL(cudaGetChannelDesc, (ChannelDesc * out, const void* array),
         about_array(out, nullptr, nullptr, array))
PLD_CALL(cudaArrayGetInfo, (ChannelDesc * desc, Extent* extent, unsigned* flags, Array array),
         about_array(desc, extent, flags, array))
PLD_CALL(cudaMallocArray, (Array * out, const ChannelDesc* desc, size_t width, size_t height, unsigned flags),
         create_array(out, desc, {width, height, 0}, flags))
PLD_CALL(cudaMalloc3DArray, (Array * out, const ChannelDesc* desc, Extent e, unsigned flags),
         create_array(out, desc, e, flags))
PLD_CALL(cudaFreeArray, (Array array), array == nullptr ? success : cuArrayDestroy(array))
PLD_CALL(cudaArrayGetMemoryRequirements,
         (palladion::cuda::driver::ArrayMemoryRequirements * out, Array array, int device),
         cuArrayGetMemoryRequirements(out, array, device))
PLD_CALL(cudaMallocMipmappedArray,
         (MipmappedArray * out, const ChannelDesc* desc, Extent e, unsigned levels, unsigned flags),
         create_mipmapped(out, desc, e, levels, flags))
PLD_CALL(cudaGetMipmappedArrayLevel, (Array * out, const void* array, unsigned level),
         cuMipmappedArrayGetLevel(out, array, level))
PLD_CALL(cudaFreeMipmappedArray, (MipmappedArray array),
         array == nullptr ? success : cuMipmappedArrayDestroy(array))
PLD_CALL(cudaMipmappedArrayGetMemoryRequirements,
         (palladion::cuda::driver::ArrayMemoryRequirements * out, MipmappedArray array, int device),
         cuMipmappedArrayGetMemoryRequirements(out, array, device))

PLD_SYNCHRONOUS(cudaMemcpy2DToArray,
                (Array to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                 int),
                copy_rows({to, x, y, nullptr, 0}, {nullptr, 0, 0, from, pitch}, width, height, nullptr,
                          false))
PLD_STREAMED(cudaMemcpy2DToArrayAsync,
             (Array to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, int,
              Stream stream),
             copy_rows({to, x, y, nullptr, 0}, {nullptr, 0, 0, from, pitch}, width, height, stream, true))
PLD_SYNCHRONOUS(cudaMemcpy2DFromArray,
                (void* to, size_t pitch, Array from, size_t x, size_t y, size_t width, size_t height, int),
                copy_rows({nullptr, 0, 0, to, pitch}, {from, x, y, nullptr, 0}, width, height, nullptr,
                          false))
PLD_STREAMED(cudaMemcpy2DFromArrayAsync,
             (void* to, size_t pitch, Array from, size_t x, size_t y, size_t width, size_t height, int,
              Stream stream),
             copy_rows({nullptr, 0, 0, to, pitch}, {from, x, y, nullptr, 0}, width, height, stream, true))
PLD_SYNCHRONOUS(cudaMemcpy2DArrayToArray,
                (Array to, size_t to_x, size_t to_y, Array from, size_t x, size_t y, size_t width,
                 size_t height, int),
                copy_rows({to, to_x, to_y, nullptr, 0}, {from, x, y, nullptr, 0}, width, height, nullptr,
                          false))

// Deprecated: bytes in the order of an array's elements, over the ends of rows.
PLD_SYNCHRONOUS(cudaMemcpyToArray, (Array to, size_t x, size_t y, const void* from, size_t bytes, int),
                bytes_to_array(to, x, y, from, bytes, nullptr))
PLD_STREAMED(cudaMemcpyToArrayAsync,
             (Array to, size_t x, size_t y, const void* from, size_t bytes, int, Stream stream),
             bytes_to_array(to, x, y, from, bytes, stream))
PLD_SYNCHRONOUS(cudaMemcpyFromArray, (void* to, Array from, size_t x, size_t y, size_t bytes, int),
                bytes_from_array(to, from, x, y, bytes, nullptr))
PLD_STREAMED(cudaMemcpyFromArrayAsync,
             (void* to, Array from, size_t x, size_t y, size_t bytes, int, Stream stream),
             bytes_from_array(to, from, x, y, bytes, stream))
PLD_SYNCHRONOUS(cudaMemcpyArrayToArray,
                (Array to, size_t to_x, size_t to_y, Array from, size_t x, size_t y, size_t bytes, int),
                bytes_between(to, to_x, to_y, from, x, y, bytes))
