#include "kernels/hopper/matmul_ws.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/frame/reference.h"
#include "kernels/frame/specs.h"
#include "kernels/hopper/epilogue.h"
#include "kernels/hopper/matmul.h"
#include "kernels/hopper/store_tile.h"

namespace palladion::kernels {
namespace {

constexpr int compute_groups = 2;
constexpr int64_t epilogue_m = 64;

void check_epilogue(const Rules& rules, const MatmulWs& c) {
  rules.require(c.scaled || (c.dtype == pl::s8) == (c.out_dtype == pl::s32),
                "s8 products are summed and stored as s32; scaled=1 makes them f32");
  rules.require(!c.scaled || c.out_dtype != pl::s32, "scaled products are f32: out_dtype cannot be s32");
  const bool eight_bits = pl::bits(c.out_dtype) == 8;
  rules.require(eight_bits == c.quantised,
                "quantised=1 takes an out_dtype of 8 bits, which nothing else has");
  const bool in_f32 = c.acc_dtype() == pl::f32 || c.scaled;
  rules.require(in_f32 || (!c.bias && c.activation == "none" && !c.quantised),
                "bias, activation and quantised work on f32: s8 products need scaled=1");
}

void check(const MatmulWs& c) {
  const Rules rules("matmul_ws");
  for (const auto& [name, value] : {std::pair{"tile_m", c.tile_m},
                                    {"tile_n", c.tile_n},
                                    {"tile_k", c.tile_k},
                                    {"epilogue_n", c.epilogue_n},
                                    {"grid_width", c.grid_width},
                                    {"sms", c.sm_count}})
    rules.require(value > 0, fmt::format("{}={} must be positive", name, value));
  rules.require(c.sm_count >= (c.cluster_axis.empty() ? 1 : 2), "sms must leave room for one cluster");
  rules.require(c.tile_m % 128 == 0,
                fmt::format("tile_m={} must be a multiple of 128: two warpgroups of 64 rows each", c.tile_m));
  rules.require(c.tile_n % c.epilogue_n == 0,
                fmt::format("epilogue_n={} must divide tile_n={}", c.epilogue_n, c.tile_n));
  rules.require(c.cluster_axis.empty() || c.cluster_axis == "m" || c.cluster_axis == "n",
                fmt::format("cluster_axis={} must be m, n or empty", c.cluster_axis));
  const int64_t rows = c.tile_m * (c.cluster_axis == "m" ? 2 : 1),
                columns = c.tile_n * (c.cluster_axis == "n" ? 2 : 1);
  rules.require(c.m % rows == 0,
                fmt::format("m={} must be a multiple of {}: the rows of a cluster's tile", c.m, rows));
  rules.require(c.n % columns == 0,
                fmt::format("n={} must be a multiple of {}: the columns of a cluster's tile", c.n, columns));
  rules.multiple("k", c.k, "tile_k", c.tile_k);
  rules.at_least("stages", c.stages, 2);
  check_epilogue(rules, c);
}

// The parts of the kernel share this.
struct Body {
  const MatmulWs& c;
  Ref a, b, out;
  Epilogue epilogue;
  Ref a_smem, b_smem, out_smem;
  BarrierRef full, empty;

  int64_t k_steps() const { return c.k / c.tile_k; }
  int64_t cluster() const { return c.cluster_axis.empty() ? 1 : 2; }
  // Tiles of a cluster along m and n.
  int64_t rows() const { return c.m / (c.tile_m * (c.cluster_axis == "m" ? 2 : 1)); }
  int64_t columns() const { return c.n / (c.tile_n * (c.cluster_axis == "n" ? 2 : 1)); }
  int64_t clusters() const { return std::min(c.sm_count / cluster(), rows() * columns()); }

  void run() const;
  void produce() const;
  void drain() const;
  void fetch(const Scalar& m0, const Scalar& n0, const Scalar& ki, const Scalar& slot) const;
  void consume(const Scalar& group) const;
  plgpu::Array multiply(const Scalar& group, const Scalar& first_step) const;
  void store(const plgpu::Array& acc, const Scalar& group, const Scalar& m0, const Scalar& n0) const;

  // Calls body(local step, first row, first column) for each tile of this CTA.
  template <class F>
  void for_each_tile(F&& body) const {
    const Scalar first = pl::axis_index("sm");
    const Scalar tiles = (rows() * columns() - 1 - first) / clusters() + 1;
    pl::fori_loop(0, tiles, [&](const Scalar& i) {
      const auto [mi, ni] = plgpu::planar_snake(first + i * clusters(), {rows(), columns()}, 1, c.grid_width);
      const Scalar rank = cluster() == 1 ? Scalar(0) : pl::axis_index("cta");
      const Scalar row = c.cluster_axis == "m" ? mi * 2 + rank : mi;
      const Scalar column = c.cluster_axis == "n" ? ni * 2 + rank : ni;
      body(i, row * c.tile_m, column * c.tile_n);
    });
  }
};

void Body::fetch(const Scalar& m0, const Scalar& n0, const Scalar& ki, const Scalar& slot) const {
  const Scalar k0 = ki * c.tile_k;
  plgpu::CopyInOptions shared_by_cluster;
  shared_by_cluster.collective_axes = {"cta"};
  const plgpu::CopyInOptions own;
  const Ref b_tile =
      c.eight_bit() ? b.at(ds(n0, c.tile_n), ds(k0, c.tile_k)) : b.at(ds(k0, c.tile_k), ds(n0, c.tile_n));
  plgpu::copy_gmem_to_smem(a.at(ds(m0, c.tile_m), ds(k0, c.tile_k)), a_smem.at(slot), full.at(slot),
                           c.cluster_axis == "n" ? shared_by_cluster : own);
  plgpu::copy_gmem_to_smem(b_tile, b_smem.at(slot), full.at(slot),
                           c.cluster_axis == "m" ? shared_by_cluster : own);
}

void Body::produce() const {
  plgpu::profile_scope("prologue", [&] { plgpu::set_max_registers(40, "decrease"); });
  for_each_tile([&](const Scalar& i, const Scalar& m0, const Scalar& n0) {
    plgpu::profile_scope("main loop", [&] {
      pl::fori_loop(0, k_steps(), [&](const Scalar& ki) {
        const Scalar step = i * k_steps() + ki, slot = step % c.stages;
        pl::when(step >= c.stages, [&] { plgpu::barrier_wait(empty.at(slot)); });
        fetch(m0, n0, ki, slot);
      });
    });
  });
  plgpu::profile_scope("epilogue", [&] { drain(); });
}

void Body::drain() const {
  // Every completion is waited for: no copy may write to the shared memory of a CTA that has exited.
  const Scalar first = pl::axis_index("sm");
  const Scalar steps = ((rows() * columns() - 1 - first) / clusters() + 1) * k_steps();
  pl::fori_loop(0, c.stages, [&](const Scalar& s) {
    const Scalar step = steps + s;
    pl::when(step >= c.stages, [&] { plgpu::barrier_wait(empty.at(step % c.stages)); });
  });
}

plgpu::Array Body::multiply(const Scalar& group, const Scalar& first_step) const {
  const int64_t group_rows = c.tile_m / compute_groups;
  return pl::run_scoped(
      [&](const Ref& acc) {
        pl::fori_loop(0, k_steps(), [&](const Scalar& ki) {
          const Scalar step = first_step + ki, slot = step % c.stages;
          plgpu::barrier_wait(full.at(slot));
          const Ref b_tile = b_smem.at(slot);
          plgpu::wgmma(acc, a_smem.at(slot, ds(group * group_rows, group_rows)),
                       c.eight_bit() ? plgpu::transpose_ref(b_tile, {1, 0}) : b_tile);
          // The wgmma before this one is done, and with it the slot that it read.
          pl::when(ki > 0, [&] { plgpu::barrier_arrive(empty.at((step + (c.stages - 1)) % c.stages)); });
        });
        return acc.load();
      },
      plgpu::ACC({group_rows, c.tile_n}, c.acc_dtype()));
}

void Body::store(const plgpu::Array& acc, const Scalar& group, const Scalar& m0, const Scalar& n0) const {
  const int64_t group_rows = c.tile_m / compute_groups;
  const int64_t parts = group_rows / epilogue_m * (c.tile_n / c.epilogue_n);
  int buffer = 0;
  for (int64_t r = 0; r < group_rows; r += epilogue_m) {
    for (int64_t n = 0; n < c.tile_n; n += c.epilogue_n, buffer ^= 1) {
      const Ref smem = out_smem.at(group, buffer);
      const TilePlace place{m0 + group * group_rows + r, n0 + n, epilogue_m, c.epilogue_n};
      const Ref gmem = place.in(out);
      const plgpu::Array tile =
          epilogue(plgpu::slice(acc, {r, n}, {r + epilogue_m, n + c.epilogue_n}), place);
      store_through_smem(tile, smem, gmem, parts);
    }
  }
}

void Body::consume(const Scalar& group) const {
  plgpu::profile_scope("prologue", [&] { plgpu::set_max_registers(232, "increase"); });
  for_each_tile([&](const Scalar& i, const Scalar& m0, const Scalar& n0) {
    const plgpu::Array acc =
        plgpu::profile_scope("main loop", [&] { return multiply(group, i * k_steps()); });
    plgpu::barrier_arrive(empty.at((i * k_steps() + (k_steps() - 1)) % c.stages));
    plgpu::profile_scope("epilogue", [&] { store(acc, group, m0, n0); });
  });
  plgpu::profile_scope("last stores", [&] { plgpu::wait_smem_to_gmem(0); });
}

void Body::run() const {
  const Scalar group = pl::axis_index("wg");
  pl::when(group == compute_groups, [&] { produce(); });
  pl::when(group < compute_groups, [&] { consume(group); });
}

std::vector<pl::ShapeDtype> inputs_of(const MatmulWs& c) {
  std::vector<pl::ShapeDtype> types = {{c.dtype, {c.m, c.k}},
                                       {c.dtype, c.eight_bit() ? pl::Shape{c.n, c.k} : pl::Shape{c.k, c.n}}};
  if (c.add_c) types.push_back({c.c_dtype(), {c.m, c.n}});
  if (c.bias) types.push_back({pl::f32, {c.n}});
  return types;
}

// What is asked for; the numbers of the launch are read where they are used.
Epilogue epilogue_of(const MatmulWs& c, const std::vector<Ref>& refs) {
  std::vector<Epilogue> steps;
  if (c.scaled) steps.push_back(scaled(plgpu::launch_scalar("alpha")));
  if (c.add_c)
    steps.push_back(c.scaled ? with_residual(refs[2], plgpu::launch_scalar("beta")) : with_residual(refs[2]));
  if (c.bias) steps.push_back(with_bias(refs[c.add_c ? 3 : 2]));
  if (c.activation != "none") steps.push_back(activated_by(activation_named(c.activation)));
  if (c.quantised) steps.push_back(quantised(plgpu::launch_scalar("scale"), c.out_dtype));
  return composed(std::move(steps));
}

std::vector<plgpu::NamedScalar> scalars_of(const MatmulWs& c) {
  std::vector<plgpu::NamedScalar> scalars;
  if (c.scaled) scalars.push_back({"alpha", pl::f32, c.alpha});
  if (c.scaled && c.add_c) scalars.push_back({"beta", pl::f32, c.beta});
  if (c.quantised) scalars.push_back({"scale", pl::f32, c.scale});
  return scalars;
}

plgpu::KernelOptions options_for(const MatmulWs& c) {
  const bool clustered = !c.cluster_axis.empty();
  const pl::Shape b_tile =
      c.eight_bit() ? pl::Shape{c.stages, c.tile_n, c.tile_k} : pl::Shape{c.stages, c.tile_k, c.tile_n};
  plgpu::KernelOptions o;
  o.in_types = inputs_of(c);
  o.out_type = plgpu::Types(c.out_dtype, {c.m, c.n});
  o.scalars = scalars_of(c);
  o.scratch_types = {
      {"a_smem", tiled_smem({c.stages, c.tile_m, c.tile_k}, c.dtype)},
      {"b_smem", tiled_smem(b_tile, c.dtype)},
      {"out_smem", tiled_smem({compute_groups, 2, epilogue_m, c.epilogue_n}, c.out_dtype)},
      {"full", plgpu::Barrier({.num_arrivals = 2, .num_barriers = {c.stages}})},
      {"empty", clustered ? plgpu::ClusterBarrier({.collective_axes = {"cta"},
                                                   .num_barriers = {c.stages},
                                                   .num_arrivals = compute_groups})
                          : plgpu::Barrier({.num_arrivals = compute_groups, .num_barriers = {c.stages}})}};
  const Body sizes{.c = c,
                   .a = {},
                   .b = {},
                   .out = {},
                   .epilogue = {},
                   .a_smem = {},
                   .b_smem = {},
                   .out_smem = {},
                   .full = {},
                   .empty = {}};
  o.grid = {sizes.clusters()};
  o.grid_names = {"sm"};
  if (clustered) {
    o.cluster = {2};
    o.cluster_names = {"cta"};
  }
  o.num_threads = compute_groups + 1;
  o.thread_name = "wg";
  o.name = "matmul_ws";
  // Entry and exit of two scopes a tile, and of three more.
  const int64_t tiles = (sizes.rows() * sizes.columns() - 1) / sizes.clusters() + 1;
  if (c.profile) o.compiler_params.profile_space = 4 * tiles + 6;
  return o;
}

MatmulWs config_of(const Choice& choice) {
  MatmulWs c = matmul_config<MatmulWs>(choice);
  if (choice.word("tile_k") == "auto") c.tile_k = c.eight_bit() ? 128 : 64;
  c.epilogue_n = choice.number("epilogue_n");
  c.cluster_axis = choice.word("cluster") == "none" ? "" : choice.word("cluster");
  c.grid_width = choice.number("grid_width");
  c.sm_count = choice.number("sms");
  c.add_c = choice.flag("add_c");
  c.scaled = choice.flag("scaled");
  c.alpha = float(choice.real("alpha"));
  c.beta = float(choice.real("beta"));
  c.bias = choice.flag("bias");
  c.activation = choice.word("activation");
  c.quantised = choice.flag("quantised");
  c.scale = float(choice.real("scale"));
  c.profile = choice.flag("profile");
  return c;
}

bool has_epilogue(const MatmulWs& c) { return c.scaled || c.bias || c.quantised || c.activation != "none"; }

// The product in f32, of integers exact, then the epilogue in double.
std::vector<Array> reference_with_epilogue(const MatmulWs& c, const std::vector<Array>& inputs) {
  const pl::DType wide = c.dtype == pl::s8 ? pl::s32 : pl::f32;
  std::vector<double> d =
      to_doubles(matmul_reference(inputs[0], false, inputs[1], c.eight_bit(), nullptr, wide));
  const std::vector<double> residual = c.add_c ? to_doubles(inputs[2]) : std::vector<double>{};
  const std::vector<double> bias = c.bias ? to_doubles(inputs.back()) : std::vector<double>{};
  const Activation& activation = activation_named(c.activation);
  for (size_t i = 0; i < d.size(); ++i) {
    if (c.scaled) d[i] *= c.alpha;
    if (c.add_c) d[i] += residual[i] * (c.scaled ? c.beta : 1);
    if (c.bias) d[i] += bias[i % size_t(c.n)];
    d[i] = activation.on_host(d[i]);
    if (c.quantised) d[i] = quantised_on_host(d[i] * c.scale, c.out_dtype);
  }
  return {from_doubles({c.out_dtype, {c.m, c.n}}, d)};
}

Tolerance tolerance_with_epilogue(const MatmulWs& c) {
  // Sums of s8 are exact; scaling and adding round a few times.
  const Tolerance sums = c.dtype == pl::s8
                             ? Tolerance{.relative = 1e-6, .absolute = 1e-4 * std::abs(c.alpha)}
                             : matmul_tolerance(c.dtype, c.quantised ? pl::f16 : c.out_dtype, c.k);
  const double wider = c.scaled ? std::max(1.0F, std::abs(c.alpha)) : 1;
  Tolerance t = activated({.relative = sums.relative, .absolute = sums.absolute * wider},
                          activation_named(c.activation));
  if (c.out_dtype == pl::f16 || c.out_dtype == pl::bf16)
    t.relative += matmul_tolerance(c.dtype, c.out_dtype, 1).relative;
  if (!c.quantised) return t;
  t.absolute *= std::abs(c.scale);
  // A sum next to the middle of two neighbours may round to either.
  if (pl::is_integer(c.out_dtype)) t.absolute = std::max(1.0, t.absolute);
  if (!pl::is_integer(c.out_dtype))
    t.relative += c.out_dtype == pl::e4m3 ? 0x1p-3 : 0x1p-2, t.absolute += 0x1p-9;
  return t;
}

std::vector<Array> reference(const Choice& choice, const std::vector<Array>& inputs) {
  const MatmulWs c = config_of(choice);
  if (has_epilogue(c)) return reference_with_epilogue(c, inputs);
  return {matmul_reference(inputs[0], false, inputs[1], c.eight_bit(), c.add_c ? &inputs[2] : nullptr,
                           c.out_dtype)};
}

}  // namespace

KernelSpec matmul_ws_spec() {
  KernelSpec spec = matmul_spec(
      "matmul_ws", "D = A B (+ C), persistent and warp-specialised: TMA producer, two wgmma consumers");
  spec.settings = {
      {"dtype", "f16", "of A and B", {"f16", "bf16", "e4m3", "e5m2", "s8"}},
      {"out_dtype", "f16", "of C and D; of s8 products s32", {"f16", "bf16", "s32", "e4m3", "e5m2", "s8"}},
      {"tile_m", "256", "rows of a CTA's tile", {"128", "256"}},
      {"tile_n", "128", "columns of a CTA's tile", {}},
      {"tile_k", "auto", "depth of a stage: 64, for 8-bit types 128", {}},
      {"stages", "4", "tiles of A and B on their way", {}},
      {"epilogue_n", "64", "columns stored at a time", {}},
      {"cluster", "none", "two CTAs share B (m) or A (n) by multicast", {"none", "m", "n"}},
      {"grid_width", "8", "tiles of n in a band of the snake", {}},
      ctas_setting("sms", 1, "CTAs of the persistent grid"),
      {"add_c", "0", "1: a third input is added", {"0", "1"}},
      {"scaled", "0", "1: D = alpha A B + beta C, numbers of the launch", {"0", "1"}},
      real_setting("alpha", 1, "with scaled=1: times A B"),
      real_setting("beta", 1, "with scaled=1 and add_c=1: times C"),
      {"bias", "0", "1: the last input, a row of f32, is added", {"0", "1"}},
      activation_setting(),
      {"quantised", "0", "1: times scale, into an out_dtype of 8 bits", {"0", "1"}},
      real_setting("scale", 1, "with quantised=1: before rounding"),
      profile_setting()};
  spec.inputs = {"a", "b", "c", "bias"};
  spec.chosen_inputs = [](const Choice& choice) {
    std::vector<std::string> names = {"a", "b"};
    if (choice.flag("add_c")) names.emplace_back("c");
    if (choice.flag("bias")) names.emplace_back("bias");
    return names;
  };
  spec.build = [](const Choice& choice) { return matmul_ws(config_of(choice)); };
  spec.make_inputs = [](const Choice& choice, uint64_t seed) {
    return normal_inputs(inputs_of(config_of(choice)), 3 * seed);
  };
  spec.reference = reference;
  spec.tolerance = [rounded = spec.tolerance](const Choice& choice) {
    if (const MatmulWs c = config_of(choice); has_epilogue(c)) return tolerance_with_epilogue(c);
    return choice.dtype("dtype") == pl::s8 ? Tolerance{} : rounded(choice);
  };
  return spec;
}

plgpu::Kernel matmul_ws(const MatmulWs& c) {
  check(c);
  return plgpu::kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& s) {
        Body{.c = c,
             .a = refs[0],
             .b = refs[1],
             .out = refs.back(),
             .epilogue = epilogue_of(c, refs),
             .a_smem = s["a_smem"],
             .b_smem = s["b_smem"],
             .out_smem = s["out_smem"],
             .full = s.barrier("full"),
             .empty = s.barrier("empty")}
            .run();
      },
      options_for(c));
}

}  // namespace palladion::kernels
