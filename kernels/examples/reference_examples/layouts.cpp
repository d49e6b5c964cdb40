// Layouts of arrays in registers: of products, of their rows and columns, strided, constant.
#include <algorithm>
#include <limits>

#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Layout;
using plgpu::Scratch;

pl::ShapeDtype matrix(const Choice& c) { return {pl::f32, {c.size("m"), c.size("n")}}; }
std::vector<SizeParam> sizes() {
  return {{"m", 64, "rows, a multiple of 64"}, {"n", 128, "columns, a multiple of 8"}};
}

// A reduction of WGMMA has the layout of its rows or columns; broadcast back it is free and WGMMA again.
KernelSpec minus_max() {
  return {.name = "ref_layout_reduce",
          .doc = "x minus the maximum of its row or column: layouts WGMMA and WGMMA.reduce",
          .sizes = sizes(),
          .settings = {{"over", "row", "what the maximum is taken over", {"row", "column"}}},
          .inputs = {"x"},
          .outputs = {"y"},
          .build =
              [](const Choice& c) {
                const int axis = c.word("over") == "row" ? 1 : 0;
                return plgpu::kernel(
                    [=](const Ref& x, const Ref& y) {
                      const plgpu::Array all = x.load(Layout::WGMMA);
                      const plgpu::Array largest = all.max(axis);
                      y.store(all - plgpu::broadcast_in_dim(largest, all.shape(), {1 - axis}, Layout::WGMMA));
                    },
                    {.in_types = matrix(c), .out_type = matrix(c), .name = "ref_layout_reduce"});
              },
          .make_inputs = random_arrays({matrix}),
          .reference =
              [](const Choice& c, const std::vector<Array>& in) {
                const size_t m = size_t(c.size("m")), n = size_t(c.size("n"));
                const bool over_row = c.word("over") == "row";
                std::vector<double> x = to_doubles(in[0]),
                                    largest(over_row ? m : n, -std::numeric_limits<double>::infinity());
                const auto line = [&](size_t i) { return over_row ? i / n : i % n; };
                for (size_t i = 0; i < x.size(); ++i) largest[line(i)] = std::max(largest[line(i)], x[i]);
                for (size_t i = 0; i < x.size(); ++i) x[i] -= largest[line(i)];
                return std::vector{from_doubles(in[0].type, x)};
              }};
}

// Arrays of different layouts cannot be combined; SMEM converts the layout.
KernelSpec relayout() {
  return {.name = "ref_layout_change",
          .doc = "From WG_STRIDED to WGMMA through SMEM; a constant takes any layout",
          .sizes = sizes(),
          .inputs = {"x", "y"},
          .outputs = {"out"},
          .build =
              [](const Choice& c) {
                return plgpu::kernel(
                    [](const Ref& x, const Ref& y, const Ref& out, Scratch& s) {
                      s["smem"].store(x.load());  // WG_STRIDED
                      const plgpu::Array same = s["smem"].load(Layout::WGMMA);
                      out.store(same + y.load(Layout::WGMMA) + plgpu::full(same.shape(), 0.5, pl::f32));
                    },
                    {.in_types = {matrix(c), matrix(c)},
                     .out_type = matrix(c),
                     .scratch_types = {{"smem", plgpu::SMEM(matrix(c).shape, pl::f32)}},
                     .name = "ref_layout_change"});
              },
          .make_inputs = random_arrays({matrix, matrix}),
          .reference =
              elementwise([](const std::vector<double>& v) { return double(float(v[0] + v[1])) + 0.5; })};
}

}  // namespace

std::vector<KernelSpec> layouts() { return {minus_max(), relayout()}; }

}  // namespace palladion::kernels::reference_examples
