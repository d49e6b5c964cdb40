// Pallas' smaller words: meshes, specs, scopes, types, semaphores of system scope.
#include "isa/text/print.h"
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Ref;
using plgpu::Scratch;

TEST(Words, KernelOverAMesh) {
  const plgpu::Mesh mesh{.grid = {2},
                         .grid_names = {"x"},
                         .cluster = {2},
                         .cluster_names = {"c"},
                         .num_threads = 2,
                         .thread_name = "wg",
                         .kernel_name = "over_mesh"};
  const auto body = [](const Ref& o) {
    const pl::Scalar x = pl::axis_index("x"), c = pl::axis_index("c"), wg = pl::axis_index("wg");
    o.at(x, c, wg).store(x * 100 + c * 10 + wg);
  };
  const pl::KernelOptions options{.out_type = pl::ShapeDtypeStruct({2, 2, 2}, pl::s32)};
  const Values expected{0, 1, 10, 11, 100, 101, 110, 111};
  const plgpu::Kernel k = pl::kernel(body, mesh, options);
  EXPECT_EQ(k.name, "over_mesh");
  EXPECT_EQ(run(k, {}).outputs[0], expected);
  // The same program as plgpu::kernel's and core_map's.
  const std::string ptx = isa::print(k.module);
  EXPECT_EQ(isa::print(pl::core_map(mesh, body, options).module), ptx);
  EXPECT_EQ(isa::print(plgpu::kernel(body, pl::over_mesh(mesh, options)).module), ptx);
}

TEST(Words, KernelOverWarps) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        auto inner = pl::kernel([&] { o.at(pl::axis_index("foo")).store(pl::axis_index("foo") * 3); },
                                plgpu::WarpMesh{.axis_name = "foo"});
        inner();
      },
      {.out_type = {pl::s32, {4}}});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{0, 3, 6, 9}));
}

TEST(Words, GridSpecs) {
  const auto twice = [](const Ref& x, const Ref& o) { o.store(x.load() * 2); };
  const pl::BlockSpec rows({1, 128}, [](pl::Index i) { return std::tuple{i, 0}; });
  const pl::ShapeDtypeStruct type({4, 128}, pl::f32);
  const auto by_spec = pl::pallas_call(
      twice,
      {.out_shape = type, .grid_spec = pl::GridSpec{.grid = {4}, .in_specs = {rows}, .out_specs = {rows}}});
  const auto by_parts =
      pl::pallas_call(twice, {.out_shape = type, .grid = {4}, .in_specs = {rows}, .out_specs = {rows}});
  Values expected = iota(512);
  for (double& v : expected) v *= 2;
  const plgpu::Kernel k = by_spec(type);
  EXPECT_EQ(run(k, {iota(512)}).outputs[0], expected);
  EXPECT_EQ(isa::print(k.module), isa::print(by_parts(type).module));
  EXPECT_THROW(pl::pallas_call(twice, {.out_shape = type, .grid = {4}, .grid_spec = pl::GridSpec{}}),
               isa::Error);
  // Whole arrays.
  const auto whole = pl::pallas_call(
      twice, {.out_shape = type, .in_specs = pl::no_block_spec, .out_specs = pl::no_block_spec});
  EXPECT_EQ(run(whole(type), {iota(512)}).outputs[0], expected);
}

TEST(Words, AnySpaceIsGlobalMemory) {
  const auto k = pl::pallas_call([](const Ref& x, const Ref& o) { o.store(x.load() + 1); },
                                 {.out_shape = {pl::f32, {128}},
                                  .in_specs = {pl::BlockSpec({.memory_space = pl::ANY})},
                                  .out_specs = {pl::BlockSpec({.memory_space = pl::MemorySpace::ANY})}})(
      pl::ShapeDtypeStruct({128}, pl::f32));
  EXPECT_EQ(k.launch.dynamic_smem_bytes, 0U);
  EXPECT_EQ(run(k, {iota(128)}).outputs[0], iota(128, 1));
}

TEST(Words, ScopesAroundFunctions) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const auto through = pl::with_scoped(plgpu::SMEM({128}, pl::f32), plgpu::Barrier())(
            [](const Ref& from, const Ref& to, const Ref& smem, const plgpu::BarrierRef& full) {
              plgpu::copy_gmem_to_smem(from, smem, full);
              plgpu::barrier_wait(full);
              to.store(smem.load() + 1);
            });
        auto f = through;
        f(a.at(0), o.at(0));
        f(a.at(1), o.at(1));
        auto of_all = pl::with_scoped(pl::collective("wg"), plgpu::SMEM({128}, pl::f32))(
            [&](const Ref& smem) { smem.store(o.at(0).load()); });
        of_all();
      },
      {.in_types = {{pl::f32, {2, 128}}}, .out_type = {pl::f32, {2, 128}}, .thread_name = "wg"});
  EXPECT_EQ(run(k, {iota(256)}).outputs[0], iota(256, 1));
}

TEST(Words, TypesOfWhatIsNotWritten) {
  const pl::ShapeDtype type = pl::empty({4, 32}, pl::f16);
  EXPECT_EQ(type, (pl::ShapeDtype{pl::f16, {4, 32}}));
  EXPECT_EQ(pl::empty_like(type), type);
  EXPECT_EQ(pl::empty_ref_like(type), type);
  const pl::MemoryRef smem = plgpu::SMEM({4, 32}, pl::f16, tiles(64, pl::f16));
  EXPECT_EQ(pl::empty_ref_like(smem).options.transforms.size(), 2U);
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        EXPECT_EQ(pl::empty_like(a), (pl::ShapeDtype{pl::f32, {128}}));
        const Array x = a.load();
        EXPECT_EQ(pl::empty_like(x), pl::empty_like(s["x"]));
        o.store(x);
      },
      {.in_types = {{pl::f32, {128}}},
       .out_type = pl::empty_like(pl::ShapeDtypeStruct({128}, pl::f32)),
       .scratch_types = {{"x", plgpu::SMEM({128}, pl::f32)}}});
  EXPECT_EQ(run(k, {iota(128)}).outputs[0], iota(128));
  EXPECT_EQ(pl::strides_from_shape({2, 3, 5}), (pl::Shape{15, 5, 1}));
  const plgpu::ShapeDtypeStruct operand({64, 8}, pl::f32, plgpu::Layout::WGMMA);
  EXPECT_TRUE(operand.layout.has_value() && *operand.layout == plgpu::Layout::WGMMA);
  EXPECT_EQ(plgpu::RefType({.transforms = {plgpu::SwizzleTransform(32)}}).transforms.size(), 1U);
}

TEST(Words, DebugChecksCanBeLeftOut) {
  const auto record = [] {
    return isa::print(
        plgpu::kernel([](const Ref& a) { pl::debug_check(a.at(0).load_scalar() > 0, "positive"); },
                      {.in_types = {{pl::f32, {128}}}})
            .module);
  };
  const std::string with = record();
  EXPECT_TRUE(pl::debug_checks_enabled());
  EXPECT_NE(with.find("trap"), std::string::npos);
  {
    const pl::enable_debug_checks none(false);
    EXPECT_FALSE(pl::debug_checks_enabled());
    EXPECT_EQ(record().find("trap"), std::string::npos);
    const pl::enable_debug_checks again;
    EXPECT_EQ(record(), with);
  }
  EXPECT_TRUE(pl::debug_checks_enabled());
}

TEST(Words, SemaphoresOfSystemScope) {
  const auto k = plgpu::kernel(
      [](const Ref& o, Scratch& s) {
        const Ref sem = s["sem"];
        pl::when(pl::axis_index("x") == 0, [&] { pl::semaphore_signal(sem.at(1), 3); });
        pl::when(pl::axis_index("x") == 1, [&] {
          pl::semaphore_wait(sem.at(1), 2);
          o.at(0).store(pl::semaphore_read(sem.at(1)));
          pl::semaphore_wait(sem.at(1), 1, {.decrement = false});
          o.at(1).store(pl::semaphore_read(sem.at(1)));
        });
      },
      {.out_type = {pl::s32, {2}},
       .scratch_types = {{"sem", pl::semaphore({2})}},
       .grid = {2},
       .grid_names = {"x"}});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{1, 1}));
}

TEST(Words, ReciprocalAndBroadcast) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const Array x = a.load();
        o.at(0).store(pl::reciprocal(x));
        o.at(1).store(pl::broadcast_to(pl::Scalar(0.25), {128}) + pl::broadcast_to(x, {128}));
      },
      {.in_types = {{pl::f32, {128}}}, .out_type = {pl::f32, {2, 128}}});
  Values in(128, 4), expected(128, 0.25);
  expected.resize(256, 4.25);
  EXPECT_EQ(run(k, {in}).outputs[0], expected);
}

// What is not done says so, by name.
TEST(Words, UnsupportedOptions) {
  const auto refused = [](const std::function<void()>& record) {
    try {
      record();
    } catch (const isa::Error& e) {
      const isa::Diagnostic& d = e.diagnostics().front();
      EXPECT_EQ(d.severity, isa::Severity::unsupported) << isa::render({d});
      return d.message;
    }
    return std::string("no Error");
  };
  EXPECT_EQ(refused([] {
              plgpu::kernel([](const Ref&) {},
                            {.out_type = {pl::f32, {128}},
                             .compiler_params = {.profile_trace_scope = plgpu::TraceScope::WARP}});
            }),
            "profile_trace_scope = plgpu::TraceScope::WARP: warpgroups record, not warps");
  EXPECT_EQ(
      refused([] { pl::BlockSpec({pl::BlockDim(pl::BoundedSlice(64))}, [](pl::Index i) { return i; }); }),
      "pl::BoundedSlice: a TMA box has a fixed size; JAX's Mosaic GPU does not take it either");
}

}  // namespace
}  // namespace palladion::test
