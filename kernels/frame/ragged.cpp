#include "kernels/frame/ragged.h"

#include <algorithm>

#include "kernels/frame/reference.h"

namespace palladion::kernels {
namespace {

// `rows` rows from `first` on of an array whose rows are all of its dimensions but the last.
Array rows_of(const Array& from, int64_t first, int64_t rows) {
  const int64_t columns = from.type.shape.back(), bytes = columns * pl::bytes(from.type.dtype);
  Array out({from.type.dtype, {rows, columns}});
  std::copy_n(from.bytes.begin() + first * bytes, rows * bytes, out.bytes.begin());
  return out;
}

}  // namespace

Array random_group_sizes(int64_t groups, int64_t rows, uint64_t seed) {
  const pl::ShapeDtype type{pl::s32, {groups}};
  std::vector<double> cuts =
      to_doubles(filled(type, {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = rows + 1}));
  cuts.back() = static_cast<double>(rows);
  std::ranges::sort(cuts);
  std::vector<double> sizes = cuts;
  for (size_t i = 1; i < sizes.size(); ++i) sizes[i] = cuts[i] - cuts[i - 1];
  return from_doubles(type, sizes);
}

Array ragged_dot_reference(const Array& a, const Array& b, const Array& sizes, pl::DType out) {
  const int64_t k = b.type.shape[1];
  Array d({out, {a.type.shape[0], b.type.shape[2]}});
  auto to = d.bytes.begin();
  int64_t row = 0;
  for (int64_t g = 0; g < sizes.size(); ++g) {
    const auto rows = static_cast<int64_t>(value_at(sizes, g));
    if (rows == 0) continue;
    const Array part =
        matmul_reference(rows_of(a, row, rows), false, rows_of(b, g * k, k), false, nullptr, out);
    to = std::ranges::copy(part.bytes, to).out;
    row += rows;
  }
  return d;
}

}  // namespace palladion::kernels
