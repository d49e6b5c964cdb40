// A of 8 bits is in shared memory, is converted on its way into registers, and is multiplied from there.
#include "kernels/hopper/matmul_mixed.h"

#include <fmt/format.h>

#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/persistent_product.h"
#include "kernels/hopper/store_tile.h"

namespace palladion::kernels {
namespace {

constexpr int64_t consumers = 2, group_rows = 64, tile_m = consumers * group_rows, tile_k = 64;
constexpr int64_t epilogue_n = 64;  // columns that are stored together

struct Body {
  const MatmulMixed& c;
  PersistentProduct tiles;
  Ref a, b, out;
  Ref a_smem, b_smem, out_smem;
  plgpu::PipelineTmaAsync pipeline;

  Scalar group() const { return pl::axis_index("wg"); }

  void produce() const {
    plgpu::set_max_registers(40, "decrease");
    tiles.produce(pipeline, [&](const Scalar& row, const Scalar& column, const Scalar& step,
                                const Scalar& slot, const BarrierRef& full) {
      const auto depth = ds(step * tile_k, tile_k);
      plgpu::copy_gmem_to_smem(a.at(ds(row, tile_m), depth), a_smem.at(slot), full);
      plgpu::copy_gmem_to_smem(b.at(depth, ds(column, c.tile_n)), b_smem.at(slot), full);
    });
  }

  void consume() const {
    plgpu::set_max_registers(232, "increase");
    tiles.for_each_tile(plgpu::PipelineState(c.stages),
                        [&](const Scalar& row, const Scalar& column, const plgpu::PipelineState& start) {
                          const auto [acc, next] = multiply(start);
                          store(acc, row + group() * group_rows, column);
                          return next;
                        });
    plgpu::wait_smem_to_gmem(0);
  }

  // While a product of this warpgroup reads its A from registers, the next A waits as integers: behind the
  // product it is converted, and meanwhile the other warpgroup multiplies.
  std::pair<plgpu::Array, plgpu::PipelineState> multiply(const plgpu::PipelineState& start) const {
    const auto [acc, last] = pl::run_scoped(
        [&](const Ref& d) {
          const auto integers = [&](const plgpu::PipelineState& at) {
            pipeline.consumer_wait(at);
            const plgpu::Array own =
                a_smem.at(at.index(), ds(group() * group_rows, group_rows)).load(plgpu::Layout::WGMMA);
            plgpu::commit_smem();  // a copy overwrites the slot
            return own;
          };
          const auto issue = [&](const plgpu::Array& own, const plgpu::PipelineState& at) {
            plgpu::wgmma(d, own.astype(c.dtype), b_smem.at(at.index()));
          };
          issue(integers(start), start);
          const plgpu::PipelineState end = pl::fori_loop(
              1, tiles.steps,
              [&](const Scalar&, const plgpu::PipelineState& before) {
                const plgpu::PipelineState at = before.advance();
                const plgpu::Array next = integers(at);
                plgpu::wgmma_wait(0);
                pipeline.consumer_release(before);
                issue(next, at);
                return at;
              },
              start);
          const plgpu::Array sum = d.load();
          pipeline.consumer_release(end);
          return std::tuple{sum, end.advance()};
        },
        plgpu::ACC({group_rows, c.tile_n}, pl::f32));
    return {acc, last};
  }

  void store(const plgpu::Array& acc, const Scalar& row, const Scalar& column) const {
    store_tile_through_smem(acc, out_smem.at(group()), [&](int64_t, int64_t n) {
      return out.at(ds(row, group_rows), ds(column + n, epilogue_n));
    });
  }
};

void check(const MatmulMixed& c) {
  const Rules rules("matmul_mixed");
  for (const auto& [name, value] : {std::pair{"m", c.m}, {"n", c.n}, {"k", c.k}, {"sms", c.sm_count}})
    rules.at_least(name, value, 1);
  rules.require(c.m % tile_m == 0, fmt::format("m={} must be a multiple of {}: rows of a tile", c.m, tile_m));
  rules.require(c.k % tile_k == 0,
                fmt::format("k={} must be a multiple of {}: columns of a tile", c.k, tile_k));
  rules.require(c.n % 64 == 0, fmt::format("n={} must be a multiple of 64: what is swizzled together", c.n));
  rules.require(c.tile_n % 64 == 0 && c.tile_n >= 64 && c.tile_n <= 256,
                fmt::format("tile_n={} must be a multiple of 64 up to 256", c.tile_n));
  rules.at_least("stages", c.stages, 2);
}

}  // namespace

plgpu::Kernel matmul_mixed(const MatmulMixed& c) {
  check(c);
  const int64_t ctas = PersistentProduct::at_most(c.sm_count, c.m, c.n, tile_m, c.tile_n);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Body body{.c = c,
                        .tiles = {.m = c.m,
                                  .n = c.n,
                                  .tile_m = tile_m,
                                  .tile_n = c.tile_n,
                                  .steps = c.k / tile_k,
                                  .ctas = ctas},
                        .a = a,
                        .b = b,
                        .out = out,
                        .a_smem = s["a_smem"],
                        .b_smem = s["b_smem"],
                        .out_smem = s["out_smem"],
                        .pipeline = plgpu::PipelineTmaAsync(
                            {.stages = c.stages, .num_producers = 2, .num_consumers = consumers})};
        pl::when(body.group() == consumers, [&] { body.produce(); });
        pl::when(body.group() < consumers, [&] { body.consume(); });
      },
      {.in_types = {{pl::s8, {c.m, c.k}}, {c.dtype, {c.k, c.n}}},
       .out_type = {c.dtype, {c.m, c.n}},
       .scratch_types = {{"a_smem", tiled_smem({c.stages, tile_m, tile_k}, pl::s8)},
                         {"b_smem", tiled_smem({c.stages, tile_k, c.tile_n}, c.dtype)},
                         {"out_smem", tiled_smem({consumers, 2, group_rows, epilogue_n}, c.dtype)}},
       .grid = {ctas},
       .grid_names = {"sm"},
       .num_threads = static_cast<int>(consumers + 1),
       .thread_name = "wg",
       .name = "matmul_mixed"});
}

KernelSpec matmul_mixed_spec() {
  using C = MatmulMixed;
  KernelSpec spec =
      Spec("matmul_mixed", "D = A B, A of s8 is converted in registers: persistent", matmul_mixed)
          .size("m", &C::m, "rows of A and D", {.multiple_of = tile_m})
          .size("n", &C::n, "columns of B and D", {.multiple_of = 64})
          .size("k", &C::k, "columns of A, rows of B", {.multiple_of = tile_k})
          .setting("dtype", &C::dtype, "of B and D", {pl::bf16, pl::f16})
          .setting("tile_n", &C::tile_n, "columns of a CTA's tile, of 128 rows", {.multiple_of = 64})
          .setting("stages", &C::stages, "tiles of A and B on their way", {.min = 2})
          .ctas("sms", &C::sm_count, 1, "CTAs of the persistent grid")
          .arrays({"a", "b"}, {"d"})
          .inputs([](const C& c, uint64_t seed) {
            const Fill integers{.kind = Fill::Kind::randint, .seed = 2 * seed, .low = -128, .high = 127};
            return std::vector<Array>{filled({pl::s8, {c.m, c.k}}, integers),
                                      normal_inputs({{c.dtype, {c.k, c.n}}}, 2 * seed + 1).front()};
          })
          .reference([](const C& c, const std::vector<Array>& in) {
            const Array a = from_doubles({c.dtype, {c.m, c.k}}, to_doubles(in[0]));  // exact
            return matmul_reference(a, false, in[1], false, nullptr, c.dtype);
          });
  // Integers of A have a deviation of 74.
  spec.tolerance = [](const Choice& choice) {
    Tolerance t = matmul_tolerance(choice.dtype("dtype"), choice.dtype("dtype"), choice.size("k"));
    t.absolute *= 74;
    return t;
  };
  return spec;
}

}  // namespace palladion::kernels
