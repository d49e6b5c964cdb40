// matmul_ws whose A is never in memory: a row of it is what the filter reads at a pixel of the result, and
// TMA gathers 64 channels of one tap for all rows of a tile at once.
#include "kernels/hopper/conv2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/frame/reference.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/persistent_product.h"
#include "kernels/hopper/ring_product.h"
#include "kernels/hopper/store_tile.h"

namespace palladion::kernels {
namespace {

constexpr int compute_groups = 2;
constexpr int64_t tile_c = 64;      // channels of a step: 128 bytes
constexpr int64_t epilogue_m = 64;  // pixels that are stored together

int64_t ctas_of(const Conv2d& c) {
  return PersistentProduct::at_most(c.sm_count, c.n * c.p() * c.q(), c.k, c.tile_m, c.tile_n);
}

struct Body {
  const Conv2d& c;
  Ref images, filters, out;
  Ref a_smem, b_smem, out_smem;
  plgpu::PipelineTmaAsync pipeline;

  int64_t blocks() const { return pl::cdiv(c.c, tile_c); }  // of channels
  int64_t k_steps() const { return c.r * c.s * blocks(); }
  int64_t pixels() const { return c.n * c.p() * c.q(); }
  int64_t rows_of_warpgroup() const { return c.tile_m / compute_groups; }

  PersistentProduct tiles() const {
    return {.m = pixels(),
            .n = c.k,
            .tile_m = c.tile_m,
            .tile_n = c.tile_n,
            .steps = k_steps(),
            .ctas = ctas_of(c)};
  }

  plgpu::Im2colBox box() const {
    return {.lower_corner = {-c.padding, -c.padding},
            .upper_corner = {c.padding - (c.r - 1) * c.dilation, c.padding - (c.s - 1) * c.dilation},
            .strides = {c.stride, c.stride}};
  }
  // Of a pixel of the result, and the filter's tap.
  plgpu::Im2colPlace place(const Scalar& pixel, const Scalar& tap) const {
    const int64_t image = c.p() * c.q();
    return {.image = pixel / image,
            .pixel = {pixel % image / c.q() * c.stride - c.padding, pixel % c.q() * c.stride - c.padding},
            .offset = {tap / c.s * c.dilation, tap % c.s * c.dilation}};
  }

  void produce() const {
    plgpu::set_max_registers(40, "decrease");
    const Ref taps = filters.reshape({c.k, c.r * c.s, c.c});
    tiles().produce(pipeline, [&](const Scalar& pixel, const Scalar& filter, const Scalar& step,
                                  const Scalar& slot, const BarrierRef& full) {
      const Scalar tap = step / blocks();
      const auto channels = ds(step % blocks() * tile_c, tile_c);
      plgpu::copy_im2col_to_smem(images.at(pl::all, pl::all, pl::all, channels), a_smem.at(slot), full, box(),
                                 place(pixel, tap));
      plgpu::copy_gmem_to_smem(taps.at(ds(filter, c.tile_n), tap, channels), b_smem.at(slot), full);
    });
  }

  void consume(const Scalar& warpgroup) const {
    plgpu::set_max_registers(232, "increase");
    tiles().for_each_tile(plgpu::PipelineState(c.stages),
                          [&](const Scalar& pixel, const Scalar& filter, const plgpu::PipelineState& s) {
                            const auto [acc, next] = multiply(warpgroup, s);
                            store(acc, warpgroup, pixel + warpgroup * rows_of_warpgroup(), filter);
                            return next;
                          });
    plgpu::wait_smem_to_gmem(0);
  }

  std::pair<plgpu::Array, plgpu::PipelineState> multiply(const Scalar& warpgroup,
                                                         const plgpu::PipelineState& start) const {
    const auto own_rows = ds(warpgroup * rows_of_warpgroup(), rows_of_warpgroup());
    return sum_over_ring(
        pipeline, start, k_steps(), {rows_of_warpgroup(), c.tile_n}, [&](const Ref& sum, const Scalar& slot) {
          plgpu::wgmma(sum, a_smem.at(slot, own_rows), plgpu::transpose_ref(b_smem.at(slot), {1, 0}));
        });
  }

  // TMA stores nothing behind the last pixel or filter.
  void store(const plgpu::Array& acc, const Scalar& warpgroup, const Scalar& pixel,
             const Scalar& filter) const {
    const Ref matrix = out.reshape({pixels(), c.k});
    store_tile_through_smem(acc, out_smem.at(warpgroup), [&](int64_t r, int64_t n) {
      return matrix.at(ds(pixel + r, epilogue_m), ds(filter + n, out_smem.shape(3)));
    });
  }

  void run() const {
    const Scalar warpgroup = pl::axis_index("wg");
    pl::when(warpgroup == compute_groups, [&] { produce(); });
    pl::when(warpgroup < compute_groups, [&] { consume(warpgroup); });
  }
};

// What the tensor map of images of two dimensions holds: corners of 8 bits.
void check_reach(const Rules& rules, const Conv2d& c) {
  const int64_t reach = (std::max(c.r, c.s) - 1) * c.dilation;
  rules.require(c.stride >= 1 && c.stride <= 8, fmt::format("stride={} must be 1 to 8", c.stride));
  rules.require(c.padding >= 0 && c.padding <= 127, fmt::format("padding={} must be 0 to 127", c.padding));
  rules.require(
      reach - c.padding <= 128,
      fmt::format("a filter of {} x {} with dilation={} reaches {} pixels beyond padding={}, a tensor map "
                  "holds 128",
                  c.r, c.s, c.dilation, reach - c.padding, c.padding));
  rules.require(
      c.p() > 0 && c.q() > 0,
      fmt::format("a filter of {} x {} with dilation={} is larger than an image of {} x {} with padding={}",
                  c.r, c.s, c.dilation, c.h, c.w, c.padding));
  rules.require(c.n * c.p() * c.q() <= std::numeric_limits<int32_t>::max() - c.tile_m,
                fmt::format("{} pixels of the result are more than 2^31", c.n * c.p() * c.q()));
}

void check(const Conv2d& c) {
  const Rules rules("conv2d");
  for (const auto& [name, value] : {std::pair{"n", c.n},
                                    {"h", c.h},
                                    {"w", c.w},
                                    {"c", c.c},
                                    {"k", c.k},
                                    {"r", c.r},
                                    {"s", c.s},
                                    {"dilation", c.dilation},
                                    {"sms", c.sm_count}})
    rules.at_least(name, value, 1);
  rules.require(c.tile_m == 128 || c.tile_m == 256,
                fmt::format("tile_m={} must be 128 or 256: two warpgroups of 64 or 128 pixels", c.tile_m));
  rules.require(c.tile_n % 64 == 0 && c.tile_n >= 64 && c.tile_m * c.tile_n <= 128 * 256,
                fmt::format("tile_n={} must be a multiple of 64, and with tile_m={} at most {}", c.tile_n,
                            c.tile_m, 128 * 256 / c.tile_m));
  rules.at_least("stages", c.stages, 2);
  check_reach(rules, c);
  rules.require(c.c % 8 == 0, fmt::format("c={} must be a multiple of 8: pixels of 16 bytes for TMA", c.c));
  rules.require(c.k * pl::bytes(c.out_dtype) % 16 == 0,
                fmt::format("k={} must be a multiple of {}: pixels of the result of 16 bytes for TMA", c.k,
                            16 / pl::bytes(c.out_dtype)));
}

pl::ShapeDtype images_of(const Conv2d& c) { return {c.dtype, {c.n, c.h, c.w, c.c}}; }
pl::ShapeDtype filters_of(const Conv2d& c) { return {c.dtype, {c.k, c.r, c.s, c.c}}; }

plgpu::KernelOptions options_of(const Conv2d& c) {
  const int64_t epilogue_n = 128 / pl::bytes(c.out_dtype);
  plgpu::KernelOptions o;
  o.in_types = {images_of(c), filters_of(c)};
  o.out_type = plgpu::Types(c.out_dtype, {c.n, c.p(), c.q(), c.k});
  o.scratch_types = {{"a_smem", tiled_smem({c.stages, c.tile_m, tile_c}, c.dtype)},
                     {"b_smem", tiled_smem({c.stages, c.tile_n, tile_c}, c.dtype)},
                     {"out_smem", tiled_smem({compute_groups, 2, epilogue_m, epilogue_n}, c.out_dtype)}};
  o.grid = {ctas_of(c)};
  o.grid_names = {"sm"};
  o.num_threads = compute_groups + 1;
  o.thread_name = "wg";
  o.name = "conv2d";
  return o;
}

}  // namespace

plgpu::Kernel conv2d(const Conv2d& c) {
  check(c);
  return plgpu::kernel(
      [&](const Ref& images, const Ref& filters, const Ref& out, plgpu::Scratch& s) {
        Body{.c = c,
             .images = images,
             .filters = filters,
             .out = out,
             .a_smem = s["a_smem"],
             .b_smem = s["b_smem"],
             .out_smem = s["out_smem"],
             .pipeline = plgpu::PipelineTmaAsync(
                 {.stages = c.stages, .num_producers = 2, .num_consumers = compute_groups})}
            .run();
      },
      options_of(c));
}

KernelSpec conv2d_spec() {
  using C = Conv2d;
  KernelSpec spec =
      Spec("conv2d",
           "convolution of images (n, h, w, c) with filters (k, r, s, c); persistent, im2col by TMA", conv2d)
          .size("n", &C::n, "images")
          .size("h", &C::h, "rows of an image")
          .size("w", &C::w, "columns of an image")
          .size("c", &C::c, "channels of an image", {.multiple_of = 8})
          .size("k", &C::k, "filters: channels of the result")
          .size("r", &C::r, "rows of a filter")
          .size("s", &C::s, "columns of a filter")
          .setting("stride", &C::stride, "pixels from one place of the filter to the next",
                   {.min = 1, .max = 8})
          .setting("padding", &C::padding, "zeros around an image", {.min = 0, .max = 127})
          .setting("dilation", &C::dilation, "pixels from one tap to the next", {.min = 1})
          .setting("dtype", &C::dtype, "of images and filters", {pl::f16, pl::bf16})
          .setting("out_dtype", &C::out_dtype, "of the result", {pl::f16, pl::bf16, pl::f32})
          .setting("tile_m", &C::tile_m, "pixels of a CTA's tile: 128 or 256", {.multiple_of = 128})
          .setting("tile_n", &C::tile_n, "filters of a CTA's tile", {.multiple_of = 64})
          .setting("stages", &C::stages, "steps of images and filters on their way", {.min = 2})
          .ctas("sms", &C::sm_count, 1, "CTAs of the persistent grid")
          .arrays({"images", "filters"}, {"out"})
          .inputs([](const C& c, uint64_t seed) {
            return normal_inputs({images_of(c), filters_of(c)}, 2 * seed);
          })
          .reference([](const C& c, const std::vector<Array>& in) {
            return convolution_reference(in[0], in[1], c.steps(), c.out_dtype);
          });
  spec.tolerance = [](const Choice& choice) {
    return matmul_tolerance(choice.dtype("dtype"), choice.dtype("out_dtype"),
                            choice.size("r") * choice.size("s") * choice.size("c"));
  };
  return spec;
}

}  // namespace palladion::kernels
