// Copies and fills: of bytes, rows, volumes and variables.
#include "cuda/driver/runtime/state.h"
#include "cuda/driver/sizes.h"

namespace palladion::cuda::runtime {
namespace {

Pointer at(const void* p) { return reinterpret_cast<Pointer>(p); }

Status copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
               int kind, Stream stream, bool async) {
  if (width == 0 || height == 0) return success;
  if (width > to_pitch || width > from_pitch) return invalid_pitch_value;
  Copy3D c{};
  c.src = {const_cast<void*>(from), from_pitch, width, height};
  c.dst = {to, to_pitch, width, height};
  c.extent = {width, height, 1};
  c.kind = kind;
  Memcpy3D d{};
  const Status status = driver_copy(c, d);
  return status != success ? status : async ? cuMemcpy3DAsync_v2(&d, stream) : cuMemcpy3D_v2(&d);
}

Status copy_3d(const Copy3D& p, Stream stream, bool async) {
  Memcpy3D d{};
  const Status status = driver_copy(p, d);
  return status != success ? status : async ? cuMemcpy3DAsync_v2(&d, stream) : cuMemcpy3D_v2(&d);
}

Copy3D of_peers(const PeerCopy3D& p) {
  return {p.src_array, p.src_pos, p.src, p.dst_array, p.dst_pos, p.dst, p.extent, copy_default};
}

Status to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind, Stream stream,
                 bool async) {
  if (kind == host_to_host || kind == device_to_host) return invalid_memcpy_direction;
  Pointer address = 0;
  const Status status = part_of_symbol(symbol, bytes, offset, address);
  if (status != success) return status;
  auto* const to = reinterpret_cast<void*>(address);
  return async ? copy_async(to, from, bytes, kind, stream) : copy(to, from, bytes, kind);
}

Status from_symbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind, Stream stream,
                   bool async) {
  if (kind == host_to_host || kind == host_to_device) return invalid_memcpy_direction;
  Pointer address = 0;
  const Status status = part_of_symbol(symbol, bytes, offset, address);
  if (status != success) return status;
  auto* const from = reinterpret_cast<const void*>(address);
  return async ? copy_async(to, from, bytes, kind, stream) : copy(to, from, bytes, kind);
}

Status fill_3d(const PitchedPtr& p, int value, const Extent& e, Stream stream, bool async) {
  const auto fill = [&](Pointer to, size_t rows) {
    const auto byte = static_cast<unsigned char>(value);
    return async ? cuMemsetD2D8Async(to, p.pitch, byte, e.width, rows, stream)
                 : cuMemsetD2D8_v2(to, p.pitch, byte, e.width, rows);
  };
  if (e.width == 0 || e.height == 0 || e.depth == 0) return success;
  if (e.depth == 1 || e.height == p.ysize) return fill(at(p.ptr), (driver::Size(e.height) * e.depth).n);
  const driver::Size slice = driver::Size(p.pitch) * p.ysize;
  if (slice.n == 0) return fill(at(p.ptr), e.height);  // all slices are one
  const driver::Size end = slice * (e.depth - 1) + driver::Size(p.pitch) * (e.height - 1) + e.width;
  Pointer base = 0;
  size_t size = ~at(p.ptr);  // up to the last address
  if (cuMemGetAddressRange_v2(&base, &size, at(p.ptr)) != success) base = at(p.ptr);
  if (!driver::fits(at(p.ptr) - base, end.n, size)) return driver::invalid_value;
  for (size_t z = 0; z < e.depth; ++z)
    if (const Status status = fill(at(p.ptr) + z * slice.n, e.height); status != success) return status;
  return success;
}

}  // namespace

Status copy(void* to, const void* from, size_t bytes, int kind) {
  if (bytes == 0) return success;
  switch (kind) {
    case host_to_device:
      return cuMemcpyHtoD_v2(at(to), from, bytes);
    case device_to_host:
      return cuMemcpyDtoH_v2(to, at(from), bytes);
    case host_to_host:
    case device_to_device:
    case copy_default:
      return cuMemcpy(at(to), at(from), bytes);
    default:
      return invalid_memcpy_direction;
  }
}

Status copy_async(void* to, const void* from, size_t bytes, int kind, Stream stream) {
  if (bytes == 0) return success;
  switch (kind) {
    case host_to_device:
      return cuMemcpyHtoDAsync_v2(at(to), from, bytes, stream);
    case device_to_host:
      return cuMemcpyDtoHAsync_v2(to, at(from), bytes, stream);
    case host_to_host:
    case device_to_device:
    case copy_default:
      return cuMemcpyAsync(at(to), at(from), bytes, stream);
    default:
      return invalid_memcpy_direction;
  }
}

namespace {

// Bytes of an element of the array, or 1 of other memory.
Status element_of(const void* array, size_t& bytes) {
  bytes = 1;
  if (array == nullptr) return success;
  driver::Array3DDescriptor about{};
  Format format;
  const Status status = array_of(array, about, format);
  bytes = format.bytes;
  return status;
}

}  // namespace

// A position counts elements of its own side. The extent counts elements where an array takes part, else
// bytes. The driver counts bytes.
Status driver_copy(const Copy3D& p, Memcpy3D& out) {
  out = {};
  if (p.kind < host_to_host || p.kind > copy_default) return invalid_memcpy_direction;
  if ((p.src_array != nullptr) == (p.src.ptr != nullptr) ||
      (p.dst_array != nullptr) == (p.dst.ptr != nullptr))
    return driver::invalid_value;
  size_t from = 1, to = 1;
  if (const Status s = element_of(p.src_array, from)) return s;
  if (const Status s = element_of(p.dst_array, to)) return s;
  if (p.src_array != nullptr && p.dst_array != nullptr && from != to) return driver::invalid_value;
  out.src_x = (driver::Size(p.src_pos.x) * from).n, out.src_y = p.src_pos.y, out.src_z = p.src_pos.z;
  out.src_type = p.src_array != nullptr ? driver::memory_array : driver::memory_unified;
  out.src_array = p.src_array, out.src_device = at(p.src.ptr);
  out.src_pitch = p.src.pitch, out.src_height = p.src.ysize;
  out.dst_x = (driver::Size(p.dst_pos.x) * to).n, out.dst_y = p.dst_pos.y, out.dst_z = p.dst_pos.z;
  out.dst_type = p.dst_array != nullptr ? driver::memory_array : driver::memory_unified;
  out.dst_array = p.dst_array, out.dst_device = at(p.dst.ptr);
  out.dst_pitch = p.dst.pitch, out.dst_height = p.dst.ysize;
  out.width = (driver::Size(p.extent.width) * (p.src_array != nullptr ? from : to)).n;
  out.height = p.extent.height, out.depth = p.extent.depth;
  return success;
}

}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;
namespace driver = palladion::cuda::driver;

PLD_SYNCHRONOUS(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind), copy(to, from, bytes, kind))
PLD_STREAMED(cudaMemcpyAsync, (void* to, const void* from, size_t bytes, int kind, Stream stream),
             copy_async(to, from, bytes, kind, stream))
PLD_RUNTIME cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  if (const Status s = ready()) return ended(s);
  return ended(copy(to, from, bytes, device_to_device));
}
PLD_STREAMED(cudaMemcpyPeerAsync, (void* to, int, const void* from, int, size_t bytes, Stream stream),
             copy_async(to, from, bytes, device_to_device, stream))
PLD_SYNCHRONOUS(cudaMemcpy2D,
                (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                 int kind),
                copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, false))
PLD_STREAMED(cudaMemcpy2DAsync,
             (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
              int kind, Stream stream),
             copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, true))
PLD_SYNCHRONOUS(cudaMemcpy3D, (const Copy3D* p),
                p == nullptr ? driver::invalid_value : copy_3d(*p, nullptr, false))
PLD_STREAMED(cudaMemcpy3DAsync, (const Copy3D* p, Stream stream),
             p == nullptr ? driver::invalid_value : copy_3d(*p, stream, true))
PLD_SYNCHRONOUS(cudaMemcpy3DPeer, (const PeerCopy3D* p),
                p == nullptr ? driver::invalid_value : copy_3d(of_peers(*p), nullptr, false))
PLD_STREAMED(cudaMemcpy3DPeerAsync, (const PeerCopy3D* p, Stream stream),
             p == nullptr ? driver::invalid_value : copy_3d(of_peers(*p), stream, true))

PLD_SYNCHRONOUS(cudaMemcpyToSymbol,
                (const void* symbol, const void* from, size_t bytes, size_t offset, int kind),
                to_symbol(symbol, from, bytes, offset, kind, nullptr, false))
PLD_STREAMED(cudaMemcpyToSymbolAsync,
             (const void* symbol, const void* from, size_t bytes, size_t offset, int kind, Stream stream),
             to_symbol(symbol, from, bytes, offset, kind, stream, true))
PLD_SYNCHRONOUS(cudaMemcpyFromSymbol, (void* to, const void* symbol, size_t bytes, size_t offset, int kind),
                from_symbol(to, symbol, bytes, offset, kind, nullptr, false))
PLD_STREAMED(cudaMemcpyFromSymbolAsync,
             (void* to, const void* symbol, size_t bytes, size_t offset, int kind, Stream stream),
             from_symbol(to, symbol, bytes, offset, kind, stream, true))

PLD_SYNCHRONOUS(cudaMemset, (void* p, int value, size_t bytes),
                cuMemsetD8_v2(at(p), static_cast<unsigned char>(value), bytes))
PLD_STREAMED(cudaMemsetAsync, (void* p, int value, size_t bytes, Stream stream),
             cuMemsetD8Async(at(p), static_cast<unsigned char>(value), bytes, stream))
PLD_SYNCHRONOUS(cudaMemset2D, (void* p, size_t pitch, int value, size_t width, size_t height),
                cuMemsetD2D8_v2(at(p), pitch, static_cast<unsigned char>(value), width, height))
PLD_STREAMED(cudaMemset2DAsync,
             (void* p, size_t pitch, int value, size_t width, size_t height, Stream stream),
             cuMemsetD2D8Async(at(p), pitch, static_cast<unsigned char>(value), width, height, stream))
PLD_SYNCHRONOUS(cudaMemset3D, (PitchedPtr p, int value, Extent e), fill_3d(p, value, e, nullptr, false))
PLD_STREAMED(cudaMemset3DAsync, (PitchedPtr p, int value, Extent e, Stream stream),
             fill_3d(p, value, e, stream, true))
