// The tensor core sums fp8 products with few bits: each 128 of k it starts anew, and what it has is added to
// a sum in f32, times the scales of its blocks.
#include "kernels/hopper/matmul_block_scaled.h"

#include <fmt/format.h>

#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/persistent_product.h"
#include "kernels/hopper/store_tile.h"

namespace palladion::kernels {
namespace {

constexpr int64_t consumers = 2, group_rows = 64, tile_m = consumers * group_rows;
constexpr int64_t block = MatmulBlockScaled::block, tile_n = block;
constexpr int64_t epilogue_n = 64;  // columns that are stored together
const plgpu::Layout& layout = plgpu::Layout::WGMMA;

struct Body {
  const MatmulBlockScaled& c;
  PersistentProduct tiles;
  Ref a, b, a_scales, b_scales, out;
  Ref a_smem, b_smem, scales_smem, out_smem;
  plgpu::PipelineTmaAsync pipeline;

  Scalar group() const { return pl::axis_index("wg"); }

  void produce() const {
    plgpu::set_max_registers(40, "decrease");
    tiles.produce(pipeline, [&](const Scalar& row, const Scalar& column, const Scalar& step,
                                const Scalar& slot, const BarrierRef& full) {
      const auto depth = ds(step * block, block), rows = ds(row, tile_m);
      plgpu::copy_gmem_to_smem(a.at(rows, depth), a_smem.at(slot), full);
      plgpu::copy_gmem_to_smem(b.at(ds(column, tile_n), depth), b_smem.at(slot), full);
      plgpu::copy_gmem_to_smem(a_scales.at(step, rows), scales_smem.at(slot), full);
    });
  }

  void consume() const {
    plgpu::set_max_registers(232, "increase");
    tiles.for_each_tile(plgpu::PipelineState(c.stages),
                        [&](const Scalar& row, const Scalar& column, const plgpu::PipelineState& start) {
                          const auto [sum, next] = multiply(column / block, start);
                          store(sum, row + group() * group_rows, column);
                          return next;
                        });
    plgpu::wait_smem_to_gmem(0);
  }

  std::pair<plgpu::Array, plgpu::PipelineState> multiply(const Scalar& b_block,
                                                         const plgpu::PipelineState& start) const {
    const auto own_rows = ds(group() * group_rows, group_rows);
    const pl::Shape shape{group_rows, tile_n};
    const plgpu::Array zeros = plgpu::layout_cast(plgpu::zeros(shape, pl::f32), layout);
    const auto [sum, next] = pl::fori_loop(
        0, tiles.steps,
        [&](const Scalar& step, const plgpu::Array& before, const plgpu::PipelineState& at) {
          const Scalar b_scale = b_scales.at(b_block, step).load_scalar();
          pipeline.consumer_wait(at);
          const plgpu::Array scale = scales_smem.at(at.index(), own_rows).load(layout.reduce(1)) * b_scale;
          plgpu::commit_smem();  // a copy overwrites the slot
          const plgpu::Array products = pl::run_scoped(
              [&](const Ref& acc) {
                plgpu::wgmma(acc, a_smem.at(at.index(), own_rows),
                             plgpu::transpose_ref(b_smem.at(at.index()), {1, 0}));
                return acc.load();
              },
              plgpu::ACC(shape, pl::f32));
          pipeline.consumer_release(at);
          const plgpu::Array each = plgpu::broadcast_in_dim(scale, shape, {0}, layout);
          return std::tuple{plgpu::fma(products, each, before), at.advance()};
        },
        std::tuple{zeros, start});
    return {sum, next};
  }

  void store(const plgpu::Array& sum, const Scalar& row, const Scalar& column) const {
    store_tile_through_smem(sum, out_smem.at(group()), [&](int64_t, int64_t n) {
      return out.at(ds(row, group_rows), ds(column + n, epilogue_n));
    });
  }
};

void check(const MatmulBlockScaled& c) {
  const Rules rules("matmul_block_scaled");
  for (const auto& [name, value] : {std::pair{"m", c.m}, {"n", c.n}, {"k", c.k}, {"sms", c.sm_count}})
    rules.at_least(name, value, 1);
  rules.require(c.m % tile_m == 0, fmt::format("m={} must be a multiple of {}: rows of a tile", c.m, tile_m));
  rules.require(c.n % 8 == 0, fmt::format("n={} must be a multiple of 8: rows of 16 bytes for TMA", c.n));
  rules.require(c.k % 16 == 0, fmt::format("k={} must be a multiple of 16: rows of 16 bytes for TMA", c.k));
  rules.at_least("stages", c.stages, 2);
}

// Of each element of a row of A or B, times its block's scale.
std::vector<double> scaled(const Array& values, const std::function<int64_t(int64_t row, int64_t k)>& which,
                           const Array& scales) {
  const int64_t k = values.type.shape[1];
  std::vector<double> out = to_doubles(values);
  const std::vector<double> by = to_doubles(scales);
  for (size_t i = 0; i < out.size(); ++i) out[i] *= by[size_t(which(int64_t(i) / k, int64_t(i) % k))];
  return out;
}

Array reference(const MatmulBlockScaled& c, const std::vector<Array>& in) {
  const auto of_a = [&](int64_t row, int64_t k) { return k / block * c.m + row; };
  const auto of_b = [&](int64_t row, int64_t k) { return row / block * c.k_blocks() + k / block; };
  const Array a = from_doubles({pl::f32, {c.m, c.k}}, scaled(in[0], of_a, in[2])),
              b = from_doubles({pl::f32, {c.n, c.k}}, scaled(in[1], of_b, in[3]));
  return matmul_reference(a, false, b, true, nullptr, c.out_dtype);
}

std::vector<Array> inputs(const MatmulBlockScaled& c, uint64_t seed) {
  std::vector<Array> in = normal_inputs({{c.dtype, {c.m, c.k}}, {c.dtype, {c.n, c.k}}}, 4 * seed);
  for (const pl::ShapeDtype& type : {c.a_scales(), c.b_scales()}) {  // between 1/2 and 3/2
    std::vector<double> scales =
        to_doubles(filled(type, {.kind = Fill::Kind::rand, .seed = 4 * seed + in.size()}));
    for (double& x : scales) x += 0.5;
    in.push_back(from_doubles(type, scales));
  }
  return in;
}

}  // namespace

plgpu::Kernel matmul_block_scaled(const MatmulBlockScaled& c) {
  check(c);
  const int64_t ctas = PersistentProduct::at_most(c.sm_count, c.m, c.n, tile_m, tile_n);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& a_scales, const Ref& b_scales, const Ref& out,
          plgpu::Scratch& s) {
        const Body body{
            .c = c,
            .tiles =
                {.m = c.m, .n = c.n, .tile_m = tile_m, .tile_n = tile_n, .steps = c.k_blocks(), .ctas = ctas},
            .a = a,
            .b = b,
            .a_scales = a_scales,
            .b_scales = b_scales,
            .out = out,
            .a_smem = s["a_smem"],
            .b_smem = s["b_smem"],
            .scales_smem = s["scales_smem"],
            .out_smem = s["out_smem"],
            .pipeline = plgpu::PipelineTmaAsync(
                {.stages = c.stages, .num_producers = 3, .num_consumers = consumers})};
        pl::when(body.group() == consumers, [&] { body.produce(); });
        pl::when(body.group() < consumers, [&] { body.consume(); });
      },
      {.in_types = {{c.dtype, {c.m, c.k}}, {c.dtype, {c.n, c.k}}, c.a_scales(), c.b_scales()},
       .out_type = {c.out_dtype, {c.m, c.n}},
       .scratch_types = {{"a_smem", tiled_smem({c.stages, tile_m, block}, c.dtype)},
                         {"b_smem", tiled_smem({c.stages, tile_n, block}, c.dtype)},
                         {"scales_smem", plgpu::SMEM({c.stages, tile_m}, pl::f32)},
                         {"out_smem", tiled_smem({consumers, 2, group_rows, epilogue_n}, c.out_dtype)}},
       .grid = {ctas},
       .grid_names = {"sm"},
       .num_threads = static_cast<int>(consumers + 1),
       .thread_name = "wg",
       .name = "matmul_block_scaled"});
}

KernelSpec matmul_block_scaled_spec() {
  using C = MatmulBlockScaled;
  KernelSpec spec = Spec("matmul_block_scaled",
                         "D = A B of fp8 with scales of blocks; sums are promoted to f32 each 128 of k",
                         matmul_block_scaled)
                        .size("m", &C::m, "rows of A and D", {.multiple_of = tile_m})
                        .size("n", &C::n, "rows of B, columns of D", {.multiple_of = 8})
                        .size("k", &C::k, "columns of A and B", {.multiple_of = 16})
                        .setting("dtype", &C::dtype, "of A and B", {pl::e4m3, pl::e5m2})
                        .setting("out_dtype", &C::out_dtype, "of D", {pl::bf16, pl::f16})
                        .setting("stages", &C::stages, "tiles of A and B on their way", {.min = 2})
                        .ctas("sms", &C::sm_count, 1, "CTAs of the persistent grid")
                        .arrays({"a", "b", "a_scales", "b_scales"}, {"d"})
                        .inputs(inputs)
                        .reference(reference);
  // Each block's sum has the error of a product of 128 terms, times scales of up to 9/4; these add up, and
  // f32 adds next to nothing.
  spec.tolerance = [](const Choice& choice) {
    Tolerance t = matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"), block);
    t.absolute *= 2.25 * static_cast<double>(pl::cdiv(choice.size("k"), block));
    return t;
  };
  return spec;
}

}  // namespace palladion::kernels
