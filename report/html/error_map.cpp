#include "report/html/error_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace palladion::report {
namespace {

constexpr int64_t most_cells = 96;  // along a side
constexpr int64_t near_rows = 9, near_columns = 8;

struct Matrix {
  int64_t rows = 1, columns = 1;
};

Matrix as_matrix(const std::vector<int64_t>& shape) {
  Matrix m;
  if (!shape.empty()) m.columns = shape.back();
  for (size_t i = 0; i + 1 < shape.size(); ++i) m.rows *= shape[i];
  if (m.rows == 1 && m.columns > most_cells) {  // a vector is folded
    const auto side = static_cast<int64_t>(std::ceil(std::sqrt(double(m.columns))));
    return {(m.columns + side - 1) / side, side};
  }
  return m;
}

struct Judged {
  int level = 0;  // 0: equal bits, 1: other bits, 2: outside the tolerance
  double error = 0;
};

Judged judge(const Array& got, const Array& wanted, Tolerance tolerance, int64_t i) {
  if (bits_at(got, i) == bits_at(wanted, i)) return {};
  const double a = value_at(got, i), b = value_at(wanted, i);
  if (std::isnan(a) || std::isnan(b))
    return {std::isnan(a) == std::isnan(b) && !tolerance.exact() ? 1 : 2, HUGE_VAL};
  const double error = a == b ? 0 : std::abs(a - b);
  const bool inside = !tolerance.exact() && error <= tolerance.absolute + tolerance.relative * std::abs(b);
  return {inside ? 1 : 2, error};
}

struct Cell {
  int64_t elements = 0, differing = 0, outside = 0;
  double largest = 0;
};

json::object near_json(const Array& got, const Array& wanted, Tolerance tolerance, Matrix m, int64_t at) {
  const auto start = [](int64_t i, int64_t size, int64_t shown) {
    return std::clamp<int64_t>(i - shown / 2, 0, std::max<int64_t>(0, size - shown));
  };
  const int64_t row = start(at / m.columns, m.rows, near_rows);
  const int64_t column = start(at % m.columns, m.columns, near_columns);
  json::array gots, wanteds, bads;
  for (int64_t r = row; r < std::min(m.rows, row + near_rows); ++r) {
    json::array g, w, b;
    for (int64_t c = column; c < std::min(m.columns, column + near_columns); ++c) {
      const int64_t i = r * m.columns + c;
      if (i >= got.size()) break;
      g.emplace_back(fmt::format("{:.6g}", value_at(got, i)));
      w.emplace_back(fmt::format("{:.6g}", value_at(wanted, i)));
      b.emplace_back(judge(got, wanted, tolerance, i).level);
    }
    gots.push_back(std::move(g));
    wanteds.push_back(std::move(w));
    bads.push_back(std::move(b));
  }
  return {{"row", row}, {"column", column}, {"got", gots}, {"wanted", wanteds}, {"bad", bads}};
}

}  // namespace

json::object error_map(const Array& got, const Array& wanted, Tolerance tolerance,
                       const Comparison& comparison) {
  if (!comparison.comparable || comparison.bits_equal || !comparison.first) return {};
  const Matrix m = as_matrix(got.type.shape);
  const int64_t cell_rows = (m.rows + most_cells - 1) / most_cells;
  const int64_t cell_columns = (m.columns + most_cells - 1) / most_cells;
  const int64_t across = (m.columns + cell_columns - 1) / cell_columns;
  const int64_t down = (m.rows + cell_rows - 1) / cell_rows;
  std::vector<Cell> cells(size_t(across * down));
  for (int64_t i = 0; i < got.size(); ++i) {
    Cell& cell = cells[size_t(i / m.columns / cell_rows * across + i % m.columns / cell_columns)];
    const Judged j = judge(got, wanted, tolerance, i);
    ++cell.elements;
    cell.differing += j.level != 0;
    cell.outside += j.level == 2;
    cell.largest = std::max(cell.largest, j.error);
  }
  int64_t first = 0;
  for (size_t d = 0; d < comparison.first->index.size(); ++d)
    first = first * got.type.shape[d] + comparison.first->index[d];
  const auto cell_json = [](const Cell& c) {
    return json::array{c.elements, c.differing, c.outside, c.largest};
  };
  return {{"shape", array_of(got.type.shape)},
          {"rows", m.rows},
          {"columns", m.columns},
          {"cell_rows", cell_rows},
          {"cell_columns", cell_columns},
          {"down", down},
          {"across", across},
          {"first", json::array{first / m.columns, first % m.columns}},
          {"cells", array_of(cells, cell_json)},
          {"near", near_json(got, wanted, tolerance, m, first)}};
}

}  // namespace palladion::report
