#pragma once
// Shared-memory swizzles: XOR functions on byte addresses, the same for TMA and for wgmma (PTX,
// "Swizzling Modes" and "Matrix Descriptor"). They act on absolute shared addresses, which is why a
// tile starts at a multiple of its pattern (or the descriptor says by how much it does not).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace palladion::isa {

// The first seven values are the driver's CUtensorMapSwizzle numbers.
enum class Swizzle : uint8_t {
  none,
  b32,
  b64,
  b128,
  b128_atom_32b,
  b128_atom_32b_flip_8b,
  b128_atom_64b,
  b96
};
inline constexpr int swizzle_count = 8;

// Address bits [7, 7 + bits(mask)) are XORed into the bits from `shift` up.
struct SwizzleShape {
  uint16_t span_bytes;     // width within which chunks change places
  uint16_t pattern_bytes;  // the function repeats after so many bytes
  uint16_t chunk_bytes;    // what moves as one piece
  uint8_t mask;
  uint8_t shift;
};

inline constexpr SwizzleShape swizzle_shapes[swizzle_count] = {
    {16, 16, 16, 0, 0},   {32, 256, 16, 1, 4}, {64, 512, 16, 3, 4},  {128, 1024, 16, 7, 4},
    {128, 512, 32, 3, 5}, {128, 512, 8, 3, 5}, {128, 256, 64, 1, 6}, {96, 256, 16, 1, 4},
};

constexpr const SwizzleShape& shape(Swizzle s) { return swizzle_shapes[static_cast<int>(s)]; }
constexpr uint32_t span_bytes(Swizzle s) { return shape(s).span_bytes; }
constexpr uint32_t pattern_bytes(Swizzle s) { return shape(s).pattern_bytes; }
constexpr uint32_t chunk_bytes(Swizzle s) { return shape(s).chunk_bytes; }

// The bits that the line of `address` contributes to the XOR. `line` is address / 128, perhaps less a base
// offset.
constexpr uint32_t swizzle_bits(uint32_t line, Swizzle s) {
  const SwizzleShape& f = shape(s);
  uint32_t bits = (line & f.mask) << f.shift;
  // Which lines swap their 8-byte halves is not documented and not measured: odd lines here.
  if (s == Swizzle::b128_atom_32b_flip_8b) bits |= (line & 1) << 3;
  return bits;
}

// Its own inverse: the bits that are read are never the bits that change.
constexpr uint32_t swizzle(uint32_t address, Swizzle s) { return address ^ swizzle_bits(address >> 7, s); }

// The two parameters of the driver and PTX: a span, and the piece that moves (tensormap.replace
// .swizzle_mode and .swizzle_atomicity).
struct SwizzleParts {
  uint8_t mode;       // 0 none, 1 32B, 2 64B, 3 128B, 4 96B
  uint8_t atomicity;  // 0 16B, 1 32B, 2 32B with 8B flip, 3 64B
  friend constexpr bool operator==(SwizzleParts, SwizzleParts) = default;
};

inline constexpr SwizzleParts swizzle_parts[swizzle_count] = {{0, 0}, {1, 0}, {2, 0}, {3, 0},
                                                              {3, 1}, {3, 2}, {3, 3}, {4, 0}};

constexpr SwizzleParts parts(Swizzle s) { return swizzle_parts[static_cast<int>(s)]; }
constexpr std::optional<Swizzle> swizzle_of(SwizzleParts wanted) {
  for (int i = 0; i < swizzle_count; ++i)
    if (swizzle_parts[i] == wanted) return static_cast<Swizzle>(i);
  return std::nullopt;
}

constexpr std::string_view name(Swizzle s) {
  constexpr std::string_view names[swizzle_count] = {
      "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B", "96B"};
  return names[static_cast<int>(s)];
}

// Calls move(swizzled_address, offset, bytes) for each piece of [address, address + bytes) that stays
// contiguous under the swizzle.
template <class Move>
inline void for_each_chunk(uint32_t address, uint32_t bytes, Swizzle s, Move&& move) {
  if (s == Swizzle::none) return move(address, 0u, bytes);
  const uint32_t chunk = chunk_bytes(s);
  for (uint32_t offset = 0; offset < bytes;) {
    const uint32_t at = address + offset;
    const uint32_t room = chunk - (at & (chunk - 1));
    const uint32_t n = room < bytes - offset ? room : bytes - offset;
    move(swizzle(at, s), offset, n);
    offset += n;
  }
}

namespace detail {
// The common case, whole 16-byte chunks: within a 128-byte line they all move by one XOR.
template <class Move>
inline void for_each_16_bytes(uint32_t address, uint32_t bytes, Swizzle s, Move&& move) {
  for (uint32_t offset = 0; offset < bytes;) {
    const uint32_t line = (address + offset) >> 7;
    const uint32_t flip = swizzle_bits(line, s);
    const uint32_t end = ((line + 1) << 7) - address < bytes ? ((line + 1) << 7) - address : bytes;
    for (; offset < end; offset += 16) move((address + offset) ^ flip, offset);
  }
}
constexpr bool whole_chunks(uint32_t address, uint32_t bytes, Swizzle s) {
  return ((address | bytes) & 15) == 0 && chunk_bytes(s) >= 16 && s != Swizzle::none;
}
}  // namespace detail

// `shared` points at shared address 0 of the CTA; `address` is the place before the swizzle.
inline void store_swizzled(std::byte* shared, uint32_t address, const std::byte* source, uint32_t bytes,
                           Swizzle s) {
  if (detail::whole_chunks(address, bytes, s))
    return detail::for_each_16_bytes(address, bytes, s, [&](uint32_t at, uint32_t offset) {
      std::memcpy(shared + at, source + offset, 16);
    });
  for_each_chunk(address, bytes, s, [&](uint32_t at, uint32_t offset, uint32_t n) {
    std::memcpy(shared + at, source + offset, n);
  });
}
inline void load_swizzled(std::byte* target, const std::byte* shared, uint32_t address, uint32_t bytes,
                          Swizzle s) {
  if (detail::whole_chunks(address, bytes, s))
    return detail::for_each_16_bytes(address, bytes, s, [&](uint32_t at, uint32_t offset) {
      std::memcpy(target + offset, shared + at, 16);
    });
  for_each_chunk(address, bytes, s, [&](uint32_t at, uint32_t offset, uint32_t n) {
    std::memcpy(target + offset, shared + at, n);
  });
}

}  // namespace palladion::isa
