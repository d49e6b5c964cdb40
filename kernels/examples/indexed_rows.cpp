#include "kernels/examples/indexed_rows.h"

#include <fmt/format.h>

#include "kernels/examples/rows.h"
#include "kernels/frame/helpers.h"
#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"

namespace palladion::kernels {
namespace {

void check(const char* name, const IndexedRows& c) {
  const Rules rules(name);
  for (const auto& [size, value] : {std::pair{"rows", c.rows}, {"n", c.n}, {"m", c.m}})
    rules.at_least(size, value, 1);
  rules.require(c.tile >= 128 && c.tile % 128 == 0 && c.tile <= 8192,
                fmt::format("tile={} must be a multiple of 128, at most 8192", c.tile));
}

Scalar is_row(const IndexedRows& c, const Scalar& number) { return number >= 0 && number < c.rows; }

// No branch asks for the number: where it is no row, row 0 is loaded and not used.
void gather_row(const IndexedRows& c, const Ref& table, const Ref& numbers, const Ref& out) {
  const Scalar i = pl::program_id(0), number = numbers.at(i).load_scalar(), valid = is_row(c, number);
  const Scalar row = pl::where(valid, number, 0);
  for_parts(c.n, c.tile, [&](const pl::Slice& part) {
    out.at(i, part).store(plgpu::where(valid, load_part(table.at(row), c.n, part), 0));
  });
}

void add_row(const IndexedRows& c, const Ref& numbers, const Ref& x, const Ref& table) {
  const Scalar i = pl::program_id(0), number = numbers.at(i).load_scalar();
  pl::when(is_row(c, number), [&] {
    for_parts(c.n, c.tile, [&](const pl::Slice& part) {
      plgpu::atomic_add(table.at(number, part), load_part(x.at(i), c.n, part));
    });
  });
}

// Numbers of rows, many of them more than once; the second one is no row.
Array numbers_of(const IndexedRows& c, uint64_t seed) {
  Array numbers =
      filled({pl::s32, {c.m}}, {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = c.rows});
  if (c.m > 1) set_value(numbers, 1, static_cast<double>(c.rows));
  if (c.m > 2) set_value(numbers, 2, -1);
  if (c.m > 4) set_value(numbers, 4, value_at(numbers, 3));
  return numbers;
}

// Calls f(i, row) for all numbers that are rows.
template <class F>
void for_rows(const IndexedRows& c, const Array& numbers, const F& f) {
  for (int64_t i = 0; i < c.m; ++i) {
    const auto row = static_cast<int64_t>(value_at(numbers, i));
    if (row >= 0 && row < c.rows) f(i, row);
  }
}

Array gathered(const IndexedRows& c, const std::vector<Array>& inputs) {
  Array out({c.dtype, {c.m, c.n}});
  for_rows(c, inputs[1], [&](int64_t i, int64_t row) {
    for (int64_t j = 0; j < c.n; ++j) set_value(out, i * c.n + j, value_at(inputs[0], row * c.n + j));
  });
  return out;
}

Array added(const IndexedRows& c, const std::vector<Array>& inputs) {
  std::vector<double> table = to_doubles(inputs[0]);
  for_rows(c, inputs[1], [&](int64_t i, int64_t row) {
    for (int64_t j = 0; j < c.n; ++j) table[size_t(row * c.n + j)] += value_at(inputs[2], i * c.n + j);
  });
  return from_doubles(inputs[0].type, table);
}

// Whole numbers, whose sums are the same in every order.
std::vector<Array> whole_numbers(const IndexedRows& c, uint64_t seed) {
  const auto small = [&](int64_t rows, uint64_t s) {
    return filled({c.dtype, {rows, c.n}}, {.kind = Fill::Kind::randint, .seed = s, .low = -100, .high = 100});
  };
  return {small(c.rows, 3 * seed), numbers_of(c, 3 * seed + 1), small(c.m, 3 * seed + 2)};
}

using C = IndexedRows;
Spec<C> spec_for(const char* name, const char* doc, plgpu::Kernel (*build)(const C&),
                 const std::vector<pl::DType>& dtypes) {
  return Spec(name, doc, build)
      .size("rows", &C::rows, "of the table")
      .size("n", &C::n, "elements of a row")
      .size("m", &C::m, "rows that are named")
      .setting("dtype", &C::dtype, "of the elements", dtypes)
      .setting("tile", &C::tile, "elements in registers at a time",
               {.min = 128, .max = 8192, .multiple_of = 128});
}

}  // namespace

plgpu::Kernel gather(const IndexedRows& c) {
  check("gather", c);
  return plgpu::kernel(
      [&](const Ref& table, const Ref& numbers, const Ref& out) { gather_row(c, table, numbers, out); },
      {.in_types = {{c.dtype, {c.rows, c.n}}, {pl::s32, {c.m}}},
       .out_type = {c.dtype, {c.m, c.n}},
       .grid = {c.m},
       .name = "gather"});
}

plgpu::Kernel scatter_add(const IndexedRows& c) {
  check("scatter_add", c);
  Rules("scatter_add")
      .require(c.dtype == pl::f32 || c.dtype == pl::s32,
               fmt::format("dtype={} must be f32 or s32", pl::name(c.dtype)));
  const pl::ShapeDtype table{c.dtype, {c.rows, c.n}};
  return plgpu::kernel(
      [&](const Ref&, const Ref& numbers, const Ref& x, const Ref& out) { add_row(c, numbers, x, out); },
      {.in_types = {table, {pl::s32, {c.m}}, {c.dtype, {c.m, c.n}}},
       .out_type = table,
       .grid = {c.m},
       .name = "scatter_add",
       .input_output_aliases = {{0, 0}}});
}

KernelSpec gather_spec() {
  return spec_for("gather", "Rows of a table by their numbers", gather, {pl::f32, pl::f16, pl::bf16, pl::s32})
      .arrays({"table", "numbers"}, {"rows"})
      .inputs([](const C& c, uint64_t seed) {
        std::vector<Array> in = normal_inputs({{c.dtype, {c.rows, c.n}}}, 2 * seed);
        in.push_back(numbers_of(c, 2 * seed + 1));
        return in;
      })
      .reference(gathered);
}

KernelSpec scatter_add_spec() {
  return spec_for("scatter_add", "Rows added to those of a table by their numbers, with atomics", scatter_add,
                  {pl::f32, pl::s32})
      .arrays({"table", "numbers", "x"}, {"table"})
      .inputs(whole_numbers)
      .reference(added);
}

}  // namespace palladion::kernels
