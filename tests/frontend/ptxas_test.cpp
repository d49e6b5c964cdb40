// ptxas assembles what is recorded, without spills.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "tests/frontend/run_in_sim.h"
#include "tests/frontend/ws_matmul.h"

namespace palladion::test {
namespace {

std::string ptxas() {
  if (const char* home = std::getenv("CUDA_HOME")) {
    const auto at = std::filesystem::path(home) / "bin" / "ptxas";
    if (std::filesystem::exists(at)) return at.string();
  }
  std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const auto at = std::filesystem::path(path.substr(begin, end - begin)) / "ptxas";
    if (std::filesystem::exists(at)) return at.string();
    begin = end + 1;
  }
  return {};
}

struct Assembled {
  int status;
  std::string log;
};

Assembled assemble(const std::string& tool, const std::string& ptx) {
  const auto base = std::filesystem::temp_directory_path() /
                    fmt::format("palladion_frontend_{}_{}", ::getpid(), std::hash<std::string>{}(ptx));
  const std::string in = base.string() + ".ptx", log = base.string() + ".log";
  std::ofstream(in) << ptx;
  const int status =
      std::system((tool + " -arch=sm_90a -v -o /dev/null " + in + " > " + log + " 2>&1").c_str());
  std::ifstream file(log);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(in);
  std::filesystem::remove(log);
  return {status, text};
}

TEST(Ptxas, MatmulAssemblesWithoutSpills) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  for (const int64_t cluster : {1, 2}) {
    const auto kernel = ws_matmul(
        {.m = 4096, .n = 4096, .k = 4096, .tile_n = 256, .stages = 3, .sms = 132, .cluster = cluster});
    const Assembled a = assemble(tool, isa::print(kernel.module));
    EXPECT_EQ(a.status, 0) << a.log;
    EXPECT_NE(a.log.find("0 bytes spill stores, 0 bytes spill loads"), std::string::npos) << a.log;
    EXPECT_EQ(a.log.find("C75"), std::string::npos) << "wgmma would be serialised: " << a.log;
  }
}

TEST(Ptxas, ArraysOfEveryKindAssemble) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  for (const pl::DType d : {pl::s8, pl::u8, pl::s16, pl::u16, pl::s32, pl::u32, pl::s64, pl::u64, pl::f16,
                            pl::bf16, pl::f32, pl::f64, pl::e4m3, pl::e5m2}) {
    SCOPED_TRACE(pl::name(d));
    const auto kernel = plgpu::kernel(
        [&](const plgpu::Ref& a, const plgpu::Ref& o, plgpu::Scratch& s) {
          const plgpu::Array x = a.load(plgpu::Layout::WGMMA);
          s["x"].store(plgpu::where(x > 1, x * x - x, plgpu::maximum(x, 0)) / 2);
          const plgpu::Array f = s["x"].load(plgpu::Layout::WGMMA).astype(pl::f32);
          const plgpu::Array y = plgpu::exp(f) + plgpu::log(f) + plgpu::tanh(f) + plgpu::erf(f) +
                                 plgpu::sin(f) + plgpu::rsqrt(f);
          o.store(plgpu::broadcast_in_dim(y.sum(1) + y.max(1), {64, 64}, {0}).astype(d) +
                  plgpu::broadcasted_iota(d, {64, 64}, 1, plgpu::Layout::WGMMA));
          pl::debug_print("{} {}", o.at(0, 0).load_scalar(), pl::program_id(0));
        },
        {.in_types = {{d, {64, 64}}},
         .out_type = {d, {64, 64}},
         .scratch_types = {{"x", plgpu::SMEM({64, 64}, d)}},
         .grid = {2}});
    const Assembled a = assemble(tool, isa::print(kernel.module));
    EXPECT_EQ(a.status, 0) << a.log;
  }
}

TEST(Ptxas, MmaOfEveryTypeAssembles) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  for (const pl::DType d : {pl::f16, pl::bf16, pl::e4m3, pl::e5m2, pl::s8, pl::u8}) {
    SCOPED_TRACE(pl::name(d));
    const pl::DType sum = pl::is_float(d) ? pl::f32 : pl::s32;
    const auto kernel = plgpu::kernel(
        [&](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& o, plgpu::Scratch& s) {
          s["a"].store(a.load());
          const auto x = plgpu::load(s["a"], {.layout = plgpu::Layout::MMA_LHS(d, 2), .optimized = false});
          o.store(plgpu::mma(plgpu::zeros({64, 64}, sum), x, b.load(plgpu::Layout::MMA_RHS(d, 2))));
        },
        {.in_types = {{d, {64, 64}}, {d, {64, 64}}},
         .out_type = {sum, {64, 64}},
         .scratch_types = {{"a", plgpu::SMEM({64, 64}, d)}}});
    const Assembled a = assemble(tool, isa::print(kernel.module));
    EXPECT_EQ(a.status, 0) << a.log;
  }
}

TEST(Ptxas, MasksScalarsAndOrderAssemble) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  for (const pl::DType d : {pl::s8, pl::s32, pl::s64, pl::bf16, pl::f32, pl::f64}) {
    SCOPED_TRACE(pl::name(d));
    const auto kernel = plgpu::kernel(
        [&](const plgpu::Ref& a, const plgpu::Ref& o, const plgpu::Ref& n) {
          const auto window = a.at(pl::ds(pl::program_id(0) * 256, 256));
          const auto inside = plgpu::in_bounds(window);
          const auto index = plgpu::broadcasted_iota(pl::s32, {256}, 0);
          auto x =
              plgpu::load(window, {.mask = inside && index < plgpu::launch_scalar("length"), .other = 1});
          x = plgpu::cumsum(x * plgpu::launch_scalar("alpha").astype(d));
          if (pl::bits(d) <= 32) {
            n.store(plgpu::top_k(x, 128).second);
            x = plgpu::take(plgpu::sort(x), 255 - index);
          }
          pl::store(o, {pl::ds(pl::program_id(0) * 256, 256)}, x, inside);
        },
        {.in_types = {{d, {500}}},
         .out_type = {{d, {500}}, {pl::s32, {128}}},
         .scalars = {{"alpha", pl::f32, 2}, {"length", pl::s32, 400}},
         .grid = {2}});
    const Assembled a = assemble(tool, isa::print(kernel.module));
    EXPECT_EQ(a.status, 0) << a.log;
  }
}

TEST(Ptxas, WindowsOfEveryKindAssemble) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  const auto kernel = plgpu::kernel(
      [&](const plgpu::Ref& a, const plgpu::Ref& o, const plgpu::Ref& q, plgpu::Scratch& s) {
        const pl::Scalar p = pl::program_id(0);
        const auto full = s.barrier("full");
        plgpu::async_prefetch(a, {.predicate = p == 0});
        plgpu::copy_gmem_to_smem(a.at(pl::ds(p, 16, 3), pl::ds(64, 64)), s["x"], full,
                                 {.oob_mode = plgpu::OOBFillMode::PROMISE_IN_BOUNDS});
        plgpu::copy_smem_to_gmem(s["plain"], s["kept"]);
        plgpu::copy_gmem_to_smem(s["kept"], s["plain"], full);
        plgpu::barrier_arrive(full, {.predicate = p == 0});
        plgpu::barrier_wait(full);
        const auto i = plgpu::broadcasted_iota(pl::s32, {77}, 0);
        const auto x = plgpu::load(a, {i % 16, i}) + a.at(3, pl::ds(1, 77)).load();
        plgpu::store(o, {76 - i}, x.astype(pl::f32) * x.astype(pl::f32).sum_all());
        q.store(
            plgpu::inline_ptx(".reg .pred p;\n setp.gt.f32 p, x, 0f00000000;\n selp.f32 y, x, 0f00000000, p;",
                              {{"y", pl::f32}}, {{"x", o.load()}}));
      },
      {.in_types = {{pl::f16, {48, 128}}},
       .out_type = {{pl::f32, {77}}, {pl::f32, {77}}},
       .scratch_types = {{"x", plgpu::SMEM({16, 64}, pl::f16, tiles(128, pl::f16))},
                         {"plain", plgpu::SMEM({16, 64}, pl::f16)},
                         {"kept", plgpu::GMEM({16, 64}, pl::f16)},
                         {"full", plgpu::Barrier({.num_arrivals = 3})}},
       .grid = {2}});
  const Assembled a = assemble(tool, isa::print(kernel.module));
  EXPECT_EQ(a.status, 0) << a.log;
}

// Every verb that single warps have.
TEST(Ptxas, WarpLevelCodeAssembles) {
  const std::string tool = ptxas();
  if (tool.empty()) GTEST_SKIP() << "ptxas is absent";
  const auto kernel = plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& o, const plgpu::Ref& n, plgpu::Scratch& s) {
        const auto& b = s.barrier("b");
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp == 0, [&] {
            plgpu::griddepcontrol_wait();
            plgpu::async_prefetch(a.at(pl::ds(0, 8)));
            plgpu::copy_gmem_to_smem(a.at(pl::ds(0, 8)), s["x"], b.at(0), {.predicate = warp < 1});
            plgpu::copy_gmem_to_smem(a.at(pl::ds(8, 8)), s["y"], b.at(1), {.collective_axes = {"c"}});
          });
          pl::when(warp == 1, [&] {
            plgpu::barrier_wait(b.at(0));
            n.at(0).store(plgpu::barrier_test(b.at(1)).astype(pl::s32));
            s["x"].at(0, 0).store(s["x"].at(1, 1).load_scalar() + 1);
            plgpu::commit_smem();
            plgpu::copy_smem_to_gmem(s["x"], o, {.commit_group = false});
            plgpu::commit_smem_to_gmem_group();
            plgpu::wait_smem_to_gmem(0, true);
            plgpu::griddepcontrol_launch_dependents();
          });
          pl::when(warp == 2, [&] {
            plgpu::semaphore_signal(s["sem"].at(0), 2);
            plgpu::semaphore_wait(s["sem"].at(0), 1);
            plgpu::barrier_arrive(b.at(2));
            plgpu::atomic_add(n.at(1), plgpu::semaphore_read(s["sem"].at(0)));
            pl::debug_print("warp {}", warp);
            pl::debug_check(warp == 2, "the third");
          });
        });
        plgpu::barrier_wait(b.at(2));
      },
      {.in_types = {{pl::f32, {16, 64}}},
       .out_type = {{pl::f32, {8, 64}}, {pl::s32, {2}}},
       .scratch_types = {{"x", plgpu::SMEM({8, 64}, pl::f32)},
                         {"y", plgpu::SMEM({8, 64}, pl::f32)},
                         {"b", plgpu::Barrier({.num_barriers = {3}})},
                         {"sem", plgpu::SemaphoreType::REGULAR({1})}},
       .cluster = {2},
       .cluster_names = {"c"},
       .num_threads = 2,
       .thread_name = "wg"});
  const Assembled a = assemble(tool, isa::print(kernel.module));
  EXPECT_EQ(a.status, 0) << a.log;
}

TEST(Ptxas, PrintedTextIsReadBack) {
  const auto kernel = ws_matmul({.cluster = 2});
  const std::string text = isa::print(kernel.module);
  const auto parsed = isa::parse(text);
  ASSERT_TRUE(parsed.has_value()) << isa::render(parsed.error(), text);
  EXPECT_EQ(isa::print(*parsed), text);
}

}  // namespace
}  // namespace palladion::test
