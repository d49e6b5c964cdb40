#include "verify/arrays/tensor_core.h"

#include <fmt/format.h>

#include "isa/core/diagnostic.h"
#include "verify/arrays/codes.h"

namespace palladion {
namespace {

constexpr int64_t lanes = 128, indices_in_a_tile = 64;

void require(bool ok, const pl::ShapeDtype& type, std::string_view rule) {
  if (!ok)
    throw isa::Error(isa::Diagnostic{.code = LaunchCode::bad_description,
                                     .message = fmt::format("an array {}: {}", pl::to_string(type), rule)});
}

}  // namespace

int64_t tiled_scale_index(int64_t row, int64_t block, int64_t blocks) {
  const int64_t tile = row / lanes * (blocks / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % lanes / 32 * 4 + block % 4;
}

pl::Shape tiled_scale_shape(int64_t rows, int64_t blocks) {
  return {pl::cdiv(rows, lanes), blocks / 4, 32, 16};
}

Array tile_scales(const Array& scales) {
  const pl::Shape& shape = scales.type.shape;
  require(shape.size() == 2 && shape[1] % 4 == 0 && pl::bits(scales.dtype()) == 8, scales.type,
          "scales are (rows, blocks) of 8 bits, blocks a multiple of 4");
  Array out({scales.dtype(), tiled_scale_shape(shape[0], shape[1])});
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t block = 0; block < shape[1]; ++block)
      out.bytes[size_t(tiled_scale_index(row, block, shape[1]))] =
          scales.bytes[size_t(row * shape[1] + block)];
  return out;
}

int64_t tiled_metadata_index(int64_t row, int64_t i, int64_t k, int element_bits) {
  const int64_t tile = row / lanes * (k / 2 / indices_in_a_tile) + i / indices_in_a_tile;
  int64_t lane = row % lanes, at = i % indices_in_a_tile;
  if (element_bits == 16) {
    // Rows eight apart share a word; the second half of an instruction's K lies eight lanes further.
    const int64_t word = at / 16, half = at / 8 % 2;
    at = word * 16 + lane / 8 % 2 * 8 + at % 8;
    lane = lane / 16 * 16 + half * 8 + lane % 8;
  }
  return (tile * lanes + lane) * indices_in_a_tile + at;
}

pl::Shape tiled_metadata_shape(int64_t rows, int64_t k) {
  return {rows / lanes, k / 2 / indices_in_a_tile, lanes, indices_in_a_tile};
}

Array tile_sparse_metadata(const Array& metadata, pl::DType operand) {
  const pl::Shape& shape = metadata.type.shape;
  const int bits = pl::bits(operand);
  require(metadata.dtype() == pl::u2 && shape.size() == 2 && shape[0] % lanes == 0 &&
              shape[1] % indices_in_a_tile == 0,
          metadata.type, "metadata are (rows, k / 2) of u2, rows and k multiples of 128");
  require(bits == 8 || bits == 16, {operand, {}}, "sparse operands have elements of 8 or 16 bits");
  Array out({pl::u2, tiled_metadata_shape(shape[0], 2 * shape[1])});
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t i = 0; i < shape[1]; ++i)
      set_value(out, tiled_metadata_index(row, i, 2 * shape[1], bits),
                value_at(metadata, row * shape[1] + i));
  return out;
}

}  // namespace palladion
