// What findings call the bytes of a kernel: scratch by its name, other allocations by the author's line.
#include <gmock/gmock.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::BlockSpec;
using plgpu::Ref;
using plgpu::Scratch;
using testing::UnorderedElementsAre;

std::string at_line(const std::string& what, int line) {
  return what + " (buffer_names_test.cpp:" + std::to_string(line) + ")";
}

std::vector<std::string> names_in_smem(const plgpu::Kernel& kernel) {
  std::vector<std::string> names;
  for (const isa::BufferName& b : kernel.module.buffers) names.push_back(b.name);
  return names;
}

TEST(BufferNames, ScopedAllocationsAreToldApart) {
  const pl::ShapeDtype type{pl::f32, {128}};
  const plgpu::SmemType smem = plgpu::SMEM({128}, pl::f32);
  const int at_smem = __LINE__ - 1;
  const plgpu::BarrierType barrier = plgpu::Barrier();
  const int at_barrier = __LINE__ - 1;
  const auto k = plgpu::kernel(
      [&](const Ref& a, const Ref& o) {
        const auto copy = [&](const Ref& first, const Ref& second, const plgpu::BarrierRef& full) {
          first.store(a.load());
          plgpu::barrier_arrive(full);
          plgpu::barrier_wait(full);
          second.store(first.load());
          o.store(second.load());
        };
        pl::fori_loop(0, 2, [&](pl::Index) { pl::run_scoped(copy, smem, smem, barrier); });
      },
      {.in_types = {type}, .out_type = type});
  EXPECT_THAT(names_in_smem(k),
              UnorderedElementsAre(at_line("scoped", at_smem), at_line("scoped", at_smem) + " #2",
                                   at_line("scoped barrier", at_barrier)));
}

TEST(BufferNames, PipelinesHaveThoseOfTheirSpecs) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const BlockSpec spec({128}, [](pl::Index i) { return i; });
        for (int pass = 0; pass < 2; ++pass)
          plgpu::emit_pipeline([](const pl::Indices&, const Ref& x, const Ref& y,
                                  const Ref& z) { z.store(x.load() + y.load()); },
                               {.grid = {2}, .in_specs = {spec, spec}, .out_specs = {spec}})(a, a, o);
      },
      {.in_types = {{pl::f32, {256}}}, .out_type = {pl::f32, {256}}});
  EXPECT_THAT(names_in_smem(k),
              UnorderedElementsAre("pipeline input 0", "pipeline input 1", "pipeline output 0",
                                   "pipeline inputs", "pipeline input 0 #2", "pipeline input 1 #2",
                                   "pipeline output 0 #2", "pipeline inputs #2"));
}

TEST(BufferNames, GlobalScratchHasTheAuthorsNames) {
  int line = 0;
  const auto k = plgpu::kernel(
      [&](const Ref& o, Scratch& s) {
        line = __LINE__ + 1;
        const Ref turn = pl::get_global(plgpu::SemaphoreType::REGULAR());
        plgpu::semaphore_signal(s["ready"].at(1));
        plgpu::semaphore_signal(turn);
        plgpu::semaphore_wait(s["ready"].at(1), 1);
        plgpu::semaphore_wait(turn, 1);
        s["kept"].store(plgpu::full({128}, 3, pl::s32));
        o.store(s["kept"].load());
      },
      {.out_type = {pl::s32, {128}},
       .scratch_types = {{"ready", plgpu::SemaphoreType::REGULAR({2})},
                         {"kept", plgpu::GMEM({128}, pl::s32)}}});
  std::vector<std::string> names;
  for (const plgpu::Param& p : k.launch.params)
    if (const auto* scratch = std::get_if<plgpu::ScratchParam>(&p)) names.push_back(scratch->name);
  EXPECT_THAT(names, UnorderedElementsAre("ready", "kept", at_line("semaphore", line)));
  EXPECT_EQ(run(k, {}).outputs[0], Values(128, 3));
}

}  // namespace
}  // namespace palladion::test
