#pragma once
// The 64-bit shared-memory descriptors of wgmma and tcgen05 (PTX, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout", "Matrix Descriptor Format") and the canonical layouts that it describes.
#include <array>
#include <cstdint>

#include "isa/formats/swizzle.h"

namespace palladion::isa {

// Which dimension of the operand runs along 16-byte chunks: K, or M (of A) / N (of B).
enum class Major : uint8_t { k, mn };

// All distances in bytes; all are multiples of 16 below 2^18.
struct MatrixDescriptor {
  uint32_t start = 0;
  uint32_t leading = 0;     // "leading dimension byte offset", LBO
  uint32_t stride = 0;      // "stride dimension byte offset", SBO
  uint8_t base_offset = 0;  // (pattern start / 128) % 8; 0 when the pattern starts at its own alignment
  Swizzle swizzle = Swizzle::none;
  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;
};

namespace detail {
constexpr uint64_t descriptor_field(uint32_t bytes) { return (bytes & 0x3FFFF) >> 4; }
inline constexpr std::array<Swizzle, 4> descriptor_swizzles = {Swizzle::none, Swizzle::b128, Swizzle::b64,
                                                               Swizzle::b32};
}  // namespace detail

// Bits that must be zero on sm_90: 14-15, 30-31, 46-48, 52-61.
inline constexpr uint64_t matrix_descriptor_reserved = 0x3FF1'C000'C000'C000;

constexpr bool representable(const MatrixDescriptor& d) {
  const bool aligned = ((d.start | d.leading | d.stride) & 15) == 0;
  const bool in_range = (d.start | d.leading | d.stride) < (1u << 18) && d.base_offset < 8;
  return aligned && in_range && d.swizzle <= Swizzle::b128;
}

constexpr uint64_t encode(const MatrixDescriptor& d) {
  constexpr uint64_t modes[4] = {0, 3, 2, 1};  // none, 32B, 64B, 128B
  return detail::descriptor_field(d.start) | detail::descriptor_field(d.leading) << 16 |
         detail::descriptor_field(d.stride) << 32 | uint64_t{d.base_offset & 7u} << 49 |
         modes[static_cast<int>(d.swizzle) & 3] << 62;
}

constexpr MatrixDescriptor decode_matrix_descriptor(uint64_t bits) {
  return {static_cast<uint32_t>(bits & 0x3FFF) << 4, static_cast<uint32_t>(bits >> 16 & 0x3FFF) << 4,
          static_cast<uint32_t>(bits >> 32 & 0x3FFF) << 4, static_cast<uint8_t>(bits >> 49 & 7),
          detail::descriptor_swizzles[bits >> 62]};
}

// --- sm_100 ---------------------------------------------------------------------------------------------
// tcgen05's descriptor differs in its version, bits 46 to 48, and in the numbers of the swizzles, bits 61 to
// 63 (PTX, "Shared Memory Descriptor" of tcgen05).
inline constexpr uint64_t tcgen05_descriptor_version = uint64_t{1} << 46;
// Bits that must be zero: 14-15, 30-31, 53-60; 52 states absolute addresses, which K = 96 alone has.
inline constexpr uint64_t tcgen05_descriptor_reserved = 0x1FF0'0000'C000'C000;

namespace detail {
// By the field's value; 3, 5 and 7 mean nothing.
inline constexpr std::array<Swizzle, 8> tcgen05_swizzles = {
    Swizzle::none, Swizzle::b128_atom_32b, Swizzle::b128, Swizzle::none,
    Swizzle::b64,  Swizzle::none,          Swizzle::b32,  Swizzle::none};
}  // namespace detail

constexpr uint64_t encode_tcgen05(const MatrixDescriptor& d) {
  uint64_t mode = 0;
  for (uint64_t i = 1; i < 8; ++i)
    if (d.swizzle != Swizzle::none && detail::tcgen05_swizzles[i] == d.swizzle) mode = i;
  return detail::descriptor_field(d.start) | detail::descriptor_field(d.leading) << 16 |
         detail::descriptor_field(d.stride) << 32 | tcgen05_descriptor_version |
         uint64_t{d.base_offset & 7u} << 49 | mode << 61;
}

constexpr MatrixDescriptor decode_tcgen05_matrix(uint64_t bits) {
  return {static_cast<uint32_t>(bits & 0x3FFF) << 4, static_cast<uint32_t>(bits >> 16 & 0x3FFF) << 4,
          static_cast<uint32_t>(bits >> 32 & 0x3FFF) << 4, static_cast<uint8_t>(bits >> 49 & 7),
          detail::tcgen05_swizzles[bits >> 61]};
}

// Whether the bits are a descriptor of tcgen05 at all.
constexpr bool is_tcgen05_matrix(uint64_t bits) {
  const uint64_t mode = bits >> 61;
  return (bits & tcgen05_descriptor_reserved) == 0 && (bits >> 46 & 7) == 1 && mode != 3 && mode != 5 &&
         mode != 7;
}

// What a descriptor and a major-ness make of element (mn, k): the two halves of a layout, kept
// separable so that an operand can be gathered by rows and chunks without a division per element.
//
// mn counts rows of A (columns of B); k counts elements; both from the start of the instruction's
// tile. Offsets are bytes from `start`, before the swizzle.
class MatrixLayout {
 public:
  constexpr MatrixLayout(const MatrixDescriptor& d, Major major, int element_bytes)
      : descriptor_(d), major_(major), element_bytes_(static_cast<uint32_t>(element_bytes)) {}

  constexpr const MatrixDescriptor& descriptor() const { return descriptor_; }

  constexpr uint32_t offset(uint32_t mn, uint32_t k) const {
    if (major_ == Major::k) {
      const uint32_t k_bytes = k * element_bytes_;
      return k_major_row(mn) + k_major_chunk(k_bytes / 16) + k_bytes % 16;
    }
    const uint32_t per_chunk = 16 / element_bytes_;
    return mn_major_row(k) + mn_major_chunk(mn / per_chunk) + mn % per_chunk * element_bytes_;
  }

  // The shared address of element (mn, k).
  constexpr uint32_t address(uint32_t mn, uint32_t k) const { return swizzled(offset(mn, k)); }

  // K-major: 16 bytes that hold elements [chunk * 16 / size, ...) of row mn, contiguous and in order.
  constexpr uint32_t k_chunk_address(uint32_t mn, uint32_t chunk) const {
    return swizzled(k_major_row(mn) + k_major_chunk(chunk));
  }

  // MN-major: 16 bytes that hold rows [chunk * 16 / size, ...) of column k, contiguous and in order.
  constexpr uint32_t mn_chunk_address(uint32_t chunk, uint32_t k) const {
    return swizzled(mn_major_row(k) + mn_major_chunk(chunk));
  }

 private:
  // The hardware XORs with bits of the absolute address; a base offset shifts the phase of the
  // pattern by that many 128-byte lines (measured on an H200: tests/device/tma.md).
  constexpr uint32_t swizzled(uint32_t offset) const {
    const uint32_t at = (descriptor_.start + offset) & 0x3FFFF;
    return at ^ swizzle_bits((at >> 7) - descriptor_.base_offset, descriptor_.swizzle);
  }

  constexpr uint32_t span() const { return span_bytes(descriptor_.swizzle); }
  constexpr bool plain() const { return descriptor_.swizzle == Swizzle::none; }

  // Eight rows make an atom; with a swizzle its rows are as wide as the span and LBO is not used.
  constexpr uint32_t k_major_row(uint32_t mn) const { return mn % 8 * span() + mn / 8 * descriptor_.stride; }
  constexpr uint32_t k_major_chunk(uint32_t chunk) const {
    return plain() ? chunk * descriptor_.leading : chunk * 16;
  }

  // LBO and SBO change roles between the plain and the swizzled layouts.
  constexpr uint32_t mn_major_row(uint32_t k) const {
    const uint32_t rows = descriptor_.swizzle == Swizzle::b128_atom_32b ? 4 : 8;
    return k % rows * span() + k / rows * (plain() ? descriptor_.leading : descriptor_.stride);
  }
  constexpr uint32_t mn_major_chunk(uint32_t chunk) const {
    const uint32_t chunks = span() / 16;
    return chunk % chunks * 16 + chunk / chunks * (plain() ? descriptor_.stride : descriptor_.leading);
  }

  MatrixDescriptor descriptor_;
  Major major_;
  uint32_t element_bytes_;
};

}  // namespace palladion::isa
