#include "labs/references.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernels/frame/reference.h"
#include "verify/arrays/tensor_core.h"

namespace palladion::labs {
namespace {

using Arrays = std::vector<Array>;
// Writes the expected values into arrays of the types that the lab states.
using Compute = void (*)(const Arrays& inputs, Arrays& outputs);

void each(const Arrays& in, Arrays& out, double (*f)(const Arrays& in, int64_t i)) {
  for (int64_t i = 0; i < out[0].size(); ++i) set_value(out[0], i, f(in, i));
}

void copy(const Arrays& in, Arrays& out) {
  each(in, out, [](const Arrays& a, int64_t i) { return value_at(a[0], i); });
}
void twice(const Arrays& in, Arrays& out) {
  each(in, out, [](const Arrays& a, int64_t i) { return 2 * value_at(a[0], i); });
}
void add(const Arrays& in, Arrays& out) {
  each(in, out, [](const Arrays& a, int64_t i) {
    return double(float(value_at(a[0], i)) + float(value_at(a[1], i)));
  });
}
// out(i) = in(i - 1) + in(i) + in(i + 1), zeros outside
void stencil(const Arrays& in, Arrays& out) {
  each(in, out, [](const Arrays& a, int64_t i) {
    const auto at = [&](int64_t k) { return k < 0 || k >= a[0].size() ? 0.0F : float(value_at(a[0], k)); };
    return double(at(i - 1) + at(i) + at(i + 1));
  });
}
// out(c, r) = in(r, c)
void transpose(const Arrays& in, Arrays& out) {
  const int64_t rows = in[0].type.shape[0], columns = in[0].type.shape[1];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) set_value(out[0], c * rows + r, value_at(in[0], r * columns + c));
}
// out(r) = sum of row r
void row_sums(const Arrays& in, Arrays& out) {
  const int64_t columns = in[0].type.shape.back();
  for (int64_t r = 0; r < out[0].size(); ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += value_at(in[0], r * columns + c);
    set_value(out[0], r, sum);
  }
}
// out(0) = sum of all
void sum(const Arrays& in, Arrays& out) {
  double sum = 0;
  for (int64_t i = 0; i < in[0].size(); ++i) sum += value_at(in[0], i);
  set_value(out[0], 0, sum);
}
// out(c) = x(0, c) + x(1, c) + ..., in this order, each sum rounded to f32
void sum_of_rows(const Arrays& in, Arrays& out) {
  const int64_t rows = in[0].type.shape[0], columns = in[0].type.shape[1];
  for (int64_t c = 0; c < columns; ++c) {
    auto sum = float(value_at(in[0], c));
    for (int64_t r = 1; r < rows; ++r) sum += float(value_at(in[0], r * columns + c));
    set_value(out[0], c, sum);
  }
}
// The elements of a matrix in bands of 8 columns, each row after row.
void bands(const Arrays& in, Arrays& out) {
  constexpr int64_t band = 8;
  const int64_t rows = in[0].type.shape[0], columns = in[0].type.shape[1];
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t first = i / (rows * band) * band, place = i % (rows * band);
    set_value(out[0], i, value_at(in[0], place / band * columns + first + place % band));
  }
}
// softmax(q k^T / sqrt(d)) v of one head; q, k, v: (rows, d)
void attention(const Arrays& in, Arrays& out) {
  std::vector<Array> heads = in;
  for (Array& array : heads) array.type.shape = {1, array.type.shape[0], 1, array.type.shape[1]};
  Array result = kernels::attention_reference(heads[0], heads[1], heads[2], false);
  for (int64_t i = 0; i < out[0].size(); ++i) set_value(out[0], i, value_at(result, i));
}
// A times its scales: one for each 32 elements of K, as verify/arrays/tensor_core.h orders them.
Array scaled(const Array& matrix, const Array& scales) {
  constexpr int64_t block = 32;
  const int64_t rows = matrix.type.shape[0], k = matrix.type.shape[1];
  Array out({pl::f32, matrix.type.shape});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < k; ++i)
      set_value(out, r * k + i,
                value_at(matrix, r * k + i) * value_at(scales, tiled_scale_index(r, i / block, k / block)));
  return out;
}
// out = (A with its scales) (B with its scales)^T
void matmul_scaled(const Arrays& in, Arrays& out) {
  out[0] = kernels::matmul_reference(scaled(in[0], in[2]), false, scaled(in[1], in[3]), true, nullptr,
                                     out[0].dtype());
}
void softmax(const Arrays& in, Arrays& out) {
  const int64_t columns = in[0].type.shape.back();
  for (int64_t first = 0; first < in[0].size(); first += columns) {
    double largest = value_at(in[0], first), sum = 0;
    for (int64_t c = 0; c < columns; ++c) largest = std::max(largest, value_at(in[0], first + c));
    for (int64_t c = 0; c < columns; ++c) sum += std::exp(value_at(in[0], first + c) - largest);
    for (int64_t c = 0; c < columns; ++c)
      set_value(out[0], first + c, std::exp(value_at(in[0], first + c) - largest) / sum);
  }
}
void matmul(const Arrays& in, Arrays& out) {
  out[0] = kernels::matmul_reference(in[0], false, in[1], false, nullptr, out[0].dtype());
}
// out = A B^T: B is stored by columns of the product.
void matmul_nt(const Arrays& in, Arrays& out) {
  out[0] = kernels::matmul_reference(in[0], false, in[1], true, nullptr, out[0].dtype());
}

struct Named {
  std::string_view name;
  Compute compute;
};
constexpr Named references[] = {{"copy", copy},
                                {"twice", twice},
                                {"add", add},
                                {"transpose", transpose},
                                {"stencil", stencil},
                                {"row_sums", row_sums},
                                {"sum", sum},
                                {"sum_of_rows", sum_of_rows},
                                {"bands", bands},
                                {"attention", attention},
                                {"matmul_scaled", matmul_scaled},
                                {"softmax", softmax},
                                {"matmul", matmul},
                                {"matmul_nt", matmul_nt}};

}  // namespace

bool has_reference(std::string_view name) {
  return std::ranges::find(references, name, &Named::name) != std::end(references);
}

std::vector<Array> expected(const Lab& lab, const Case& one, const std::vector<Array>& inputs) {
  std::vector<Array> out;
  for (const ArrayRule& rule : lab.outputs) out.emplace_back(rule.type(one.values));
  std::ranges::find(references, lab.reference, &Named::name)->compute(inputs, out);
  return out;
}

std::vector<Array> inputs_of(const Lab& lab, const Case& one) {
  std::vector<Array> out;
  for (const ArrayRule& rule : lab.inputs) {
    Fill fill = rule.fill;
    fill.seed = one.seed + out.size();
    out.push_back(filled(rule.type(one.values), fill));
  }
  return out;
}

}  // namespace palladion::labs
