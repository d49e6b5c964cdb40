#pragma once
// What kernels of rows have in common: rows that are longer than a warpgroup's registers hold, a part after
// the other; functions of one number.
#include <numeric>

#include "frontend/plgpu.h"

namespace palladion::kernels {

// From the first to the last part of a row of `n` elements, `tile` elements each; the last one may have
// fewer. body(part, carry) gives the next carry; the last one is the result.
template <class Body, class Carry>
Carry over_row(int64_t n, int64_t tile, const Body& body, const Carry& first) {
  const int64_t whole = n / tile, rest = n % tile;
  if (whole == 0) return body(pl::ds(0, rest), first);
  const Carry carry = pl::fori_loop(
      0, whole, [&](const pl::Scalar& i, const Carry& c) { return body(pl::ds(i * tile, tile), c); }, first);
  return rest == 0 ? carry : body(pl::ds(whole * tile, rest), carry);
}

// body(part) for each part.
template <class Body>
void for_parts(int64_t n, int64_t tile, const Body& body) {
  if (n >= tile) pl::fori_loop(0, n / tile, [&](const pl::Scalar& i) { body(pl::ds(i * tile, tile)); });
  if (n % tile != 0) body(pl::ds(n / tile * tile, n % tile));
}

// A part of a row. Where rows of `n` elements do not begin at multiples of 16 bytes, a lane's vectors are no
// wider than that allows: loaded in pieces they would leave gaps between the lanes of a warp.
inline plgpu::Array load_part(const plgpu::Ref& row, int64_t n, const pl::Slice& part) {
  const plgpu::Ref window = row.at(part);
  if (part.size == 1) return window.load();
  const int64_t aligned = std::gcd(n, 16 / pl::bytes(row.dtype()));
  const plgpu::Layout widest = plgpu::default_layout({part.size}, row.dtype());
  if (widest.vector_length() <= aligned) return window.load(widest);
  return window.load(plgpu::Layout::WG_PADDED({part.size}, static_cast<int>(aligned)));
}

// Recorded at the caller's line.
inline pl::Scalar exp2(const pl::ScalarArg& x) {
  return plgpu::exp2({plgpu::Array::splat(x.value, {}), x.loc}).scalar(x.loc);
}
inline pl::Scalar log(const pl::ScalarArg& x) {
  return plgpu::log({plgpu::Array::splat(x.value, {}), x.loc}).scalar(x.loc);
}
inline pl::Scalar rsqrt(const pl::ScalarArg& x) {
  return plgpu::rsqrt({plgpu::Array::splat(x.value, {}), x.loc}).scalar(x.loc);
}

}  // namespace palladion::kernels
