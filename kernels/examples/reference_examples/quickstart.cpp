// The design note and the quickstart: references, indexing, masks, program ids, kernels made by functions.
#include <cmath>
#include <limits>

#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Array;
using Values = std::vector<double>;
using HostArray = palladion::Array;

constexpr double infinity = std::numeric_limits<double>::infinity();

KernelSpec add() {
  const auto type = [](const Choice& c) { return pl::ShapeDtype{c.dtype("dtype"), {c.size("n")}}; };
  return {.name = "ref_add",
          .doc = "The first kernel: whole references are read, added and written",
          .sizes = {{"n", 128, "elements, a multiple of 128"}},
          .settings = {{"dtype", "s32", "of all three", {"s32", "f32", "bf16"}}},
          .inputs = {"x", "y"},
          .outputs = {"o"},
          .build =
              [=](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, const Ref& o) { o.store(x.load() + y.load()); },
                    {.in_types = {type(c), type(c)}, .out_type = type(c), .name = "ref_add"});
              },
          .make_inputs = random_arrays({type, type}),
          .reference = elementwise([](const Values& v) { return v[0] + v[1]; })};
}

// x[plane, 2:5, :]
KernelSpec indexing() {
  constexpr int64_t planes = 4, height = 8;
  return {.name = "ref_indexing",
          .doc = "An integer drops a dimension, a slice keeps it: o = x[plane, 2:5, :]",
          .sizes = {{"n", 128, "columns, a multiple of 128"}},
          .settings = {{"plane", "0", "0 to 3", {"0", "1", "2", "3"}}},
          .inputs = {"x"},
          .outputs = {"o"},
          .build =
              [](const Choice& c) {
                const int64_t plane = c.number("plane");
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& o) { o.store(x.at(plane, pl::ds(2, 3), pl::all).load()); },
                    {.in_types = {pl::f32, {planes, height, c.size("n")}},
                     .out_type = {pl::f32, {3, c.size("n")}},
                     .name = "ref_indexing"});
              },
          .make_inputs = random_inputs([](const Choice& c) {
            return std::vector{pl::ShapeDtype{pl::f32, {planes, height, c.size("n")}}};
          }),
          .reference =
              [](const Choice& c, const std::vector<HostArray>& in) {
                const Values x = to_doubles(in[0]);
                const auto first = x.begin() + (c.number("plane") * height + 2) * c.size("n");
                return std::vector{
                    from_doubles({pl::f32, {3, c.size("n")}}, Values(first, first + 3 * c.size("n")))};
              }};
}

// Slices that start where the program's number says: the blocks of x, last first.
KernelSpec dynamic_slice() {
  return {.name = "ref_dynamic_slice",
          .doc = "pl::ds with a start known at run time: the blocks of an array in reverse",
          .sizes = {{"rows", 4, "blocks"}, {"n", 128, "elements of a block"}},
          .inputs = {"x"},
          .outputs = {"o"},
          .build =
              [](const Choice& c) {
                const int64_t blocks = c.size("rows"), n = c.size("n");
                const pl::ShapeDtype flat{pl::f32, {blocks * n}};
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& o) {
                      const pl::Scalar i = pl::axis_index("i");
                      o.at(pl::ds(i * n, n)).store(x.at(pl::ds((blocks - 1 - i) * n, n)).load());
                    },
                    {.in_types = flat,
                     .out_type = flat,
                     .grid = {blocks},
                     .grid_names = {"i"},
                     .name = "ref_dynamic_slice"});
              },
          .make_inputs = random_inputs([](const Choice& c) {
            return std::vector{pl::ShapeDtype{pl::f32, {c.size("rows") * c.size("n")}}};
          }),
          .reference =
              [](const Choice& c, const std::vector<HostArray>& in) {
                const Values x = to_doubles(in[0]);
                const size_t n = size_t(c.size("n"));
                Values o;
                for (size_t b = x.size() / n; b-- > 0;)
                  o.insert(o.end(), x.begin() + ptrdiff_t(b * n), x.begin() + ptrdiff_t((b + 1) * n));
                return std::vector{from_doubles(in[0].type, o)};
              }};
}

// The note's load(x, mask=idx < valid, other=-inf), today an array of indices and a `where`.
KernelSpec masked() {
  return {.name = "ref_masked",
          .doc = "Elements from `valid` on count as -inf",
          .sizes = {{"n", 128, "elements"}, {"valid", 5, "of them"}},
          .inputs = {"x"},
          .outputs = {"o"},
          .build =
              [](const Choice& c) {
                const int64_t valid = c.size("valid");
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& o) {
                      const Array loaded = x.load();
                      const Array index = plgpu::broadcasted_iota(pl::s32, x.shape(), 0, loaded.layout());
                      o.store(plgpu::where(index < valid, loaded, -infinity));
                    },
                    {.in_types = row(c), .out_type = row(c), .name = "ref_masked"});
              },
          .make_inputs = random_arrays({row}),
          .reference =
              [](const Choice& c, const std::vector<HostArray>& in) {
                Values x = to_doubles(in[0]);
                for (size_t i = size_t(c.size("valid")); i < x.size(); ++i) x[i] = -infinity;
                return std::vector{from_doubles(in[0].type, x)};
              }};
}

KernelSpec exponential() {
  return {.name = "ref_exp",
          .doc = "o[i] = exp(x[i]), row i by program i",
          .sizes = {{"rows", 4, "programs"}, {"n", 128, "elements of a row"}},
          .settings = {{"approx_math", "0", "1: the chip's approximation alone", {"0", "1"}}},
          .inputs = {"x"},
          .outputs = {"o"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& o) {
                      const pl::Scalar i = pl::axis_index("i");
                      o.at(i).store(plgpu::exp(x.at(i).load()));
                    },
                    {.in_types = rows(c),
                     .out_type = rows(c),
                     .compiler_params = {.approx_math = c.flag("approx_math")},
                     .grid = {c.size("rows")},
                     .grid_names = {"i"},
                     .name = "ref_exp"});
              },
          .make_inputs = random_arrays({rows}),
          .reference = elementwise([](const Values& v) { return std::exp(v[0]); }),
          .tolerance =
              [](const Choice& c) { return Tolerance{.relative = c.flag("approx_math") ? 2e-6 : 5e-7}; }};
}

// A function that makes kernels.
plgpu::Kernel eltwise_kernel(const pl::ShapeDtype& type, const std::function<Array(const Array&)>& eltwise) {
  return plgpu::kernel(
      [&](const Ref& x, const Ref& y, const Ref& o) { o.store(eltwise(x.load() + y.load())); },
      {.in_types = {type, type}, .out_type = type, .name = "ref_eltwise"});
}

KernelSpec eltwise() {
  return {
      .name = "ref_eltwise",
      .doc = "A kernel made by a function of a function: o = f(x + y)",
      .sizes = {{"n", 256, "elements"}},
      .settings = {{"f", "twice", "the function", {"twice", "exp"}}},
      .inputs = {"x", "y"},
      .outputs = {"o"},
      .build =
          [](const Choice& c) {
            if (c.word("f") == "exp")
              return eltwise_kernel(row(c), [](const Array& x) { return plgpu::exp(x); });
            return eltwise_kernel(row(c), [](const Array& x) { return x * 2; });
          },
      .make_inputs = random_arrays({row, row}),
      .reference =
          [](const Choice& c, const std::vector<HostArray>& in) {
            const bool exp = c.word("f") == "exp";
            return std::vector{map_elements(in, [=](const Values& v) {
              const double sum = double(float(v[0] + v[1]));
              return exp ? std::exp(sum) : 2 * sum;
            })};
          },
      .tolerance = [](const Choice& c) { return Tolerance{.relative = c.word("f") == "exp" ? 5e-7 : 0}; }};
}

}  // namespace

std::vector<KernelSpec> quickstart() {
  return {add(), indexing(), dynamic_slice(), masked(), exponential(), eltwise()};
}

}  // namespace palladion::kernels::reference_examples
