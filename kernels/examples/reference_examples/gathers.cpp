// Gathers of rows by TMA: for Blackwell.
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/helpers.h"

namespace palladion::kernels::reference_examples {
namespace {

using plgpu::Scratch;

pl::ShapeDtype table(const Choice& c) { return {pl::f32, {c.size("rows"), c.size("n")}}; }
pl::ShapeDtype numbers(const Choice& c) { return {pl::s32, {c.size("picked")}}; }
pl::ShapeDtype picked(const Choice& c) { return {pl::f32, {c.size("picked"), c.size("n")}}; }

KernelSpec gather_rows() {
  return {
      .name = "ref_gather_rows",
      .doc = "y[i] = x[rows[i]]: TMA gathers rows whose numbers are an array in Layout::TMA_INDICES",
      .sizes = {{"rows", 64, "rows of x"},
                {"picked", 32, "rows of y", {.min = 16, .max = 256, .multiple_of = 16}},
                {"n", 128, "elements of a row", {.min = 32, .max = 512, .multiple_of = 32}}},
      .inputs = {"x", "rows"},
      .outputs = {"y"},
      .chip = "b200",
      .build =
          [](const Choice& c) {
            const plgpu::Transforms tiles = {plgpu::TilingTransform({8, 32}), plgpu::SwizzleTransform(128)};
            return plgpu::kernel(
                [](const Ref& in, const Ref& rows, const Ref& out, Scratch& s) {
                  const plgpu::Array indices = plgpu::load(rows, {.layout = plgpu::Layout::TMA_INDICES});
                  plgpu::copy_gmem_to_smem(in.at(indices), s["smem"], s.barrier("barrier"));
                  plgpu::barrier_wait(s.barrier("barrier"));
                  plgpu::copy_smem_to_gmem(s["smem"], out);
                  plgpu::wait_smem_to_gmem(0);
                },
                {.in_types = {table(c), numbers(c)},
                 .out_type = picked(c),
                 .scratch_types = {{"smem", plgpu::SMEM(picked(c).shape, pl::f32, {.transforms = tiles})},
                                   {"barrier", plgpu::Barrier()}},
                 .name = "ref_gather_rows"});
          },
      .make_inputs =
          [](const Choice& c, uint64_t seed) {
            std::vector<Array> in = random_arrays({table})(c, seed);
            in.push_back(filled(
                numbers(c), {.kind = Fill::Kind::randint, .seed = seed, .low = 0, .high = c.size("rows")}));
            return in;
          },
      .reference =
          [](const Choice& c, const std::vector<Array>& in) {
            const std::vector<double> x = to_doubles(in[0]), rows = to_doubles(in[1]);
            std::vector<double> y;
            for (const double row : rows) {
              const auto first = x.begin() + static_cast<int64_t>(row) * c.size("n");
              y.insert(y.end(), first, first + c.size("n"));
            }
            return std::vector{from_doubles(picked(c), y)};
          }};
}

}  // namespace

std::vector<KernelSpec> gathers() { return {gather_rows()}; }

}  // namespace palladion::kernels::reference_examples
