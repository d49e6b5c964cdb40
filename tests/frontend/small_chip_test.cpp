// Kernels for a chip that is no H200: the recorder keeps to that chip's limits and names them.
#include "tests/support/small_chip.h"

#include <gmock/gmock.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using plgpu::Scratch;
using ::testing::HasSubstr;

plgpu::Kernel doubling(const plgpu::KernelOptions& options) {
  return plgpu::kernel([](const Ref& a, const Ref& o) { o.store(a.load() * 2); }, options);
}

const plgpu::KernelOptions plain{.in_types = {{pl::s32, {256}}}, .out_type = {pl::s32, {256}}};

TEST(SmallChip, KernelsAreForTheChipThatIsNamed) {
  EXPECT_EQ(doubling(plain).module.target, "sm_90a");
  plgpu::KernelOptions named = plain;
  named.arch = &small_chip();
  EXPECT_EQ(doubling(named).module.target, "sm_95a");
  const plgpu::ForArch target(small_chip());
  EXPECT_EQ(doubling(plain).module.target, "sm_95a");
  {
    const plgpu::ForArch inner(isa::default_arch());
    EXPECT_EQ(doubling(plain).module.target, "sm_90a");
    EXPECT_EQ(doubling(named).module.target, "sm_95a");
  }
  EXPECT_EQ(doubling(plain).module.target, "sm_95a");
}

TEST(SmallChip, RunsWhatWasRecordedForIt) {
  const plgpu::ForArch target(small_chip());
  Values expected = iota(256);
  for (double& v : expected) v *= 2;
  EXPECT_EQ(run(doubling(plain), {iota(256)}, {}, small_chip()).outputs[0], expected);
}

// The message of what must not record for the small chip.
std::string refusal(const std::function<void(const Ref&, Scratch&)>& body,
                    plgpu::KernelOptions options = {}) {
  options.out_type = {pl::f32, {128, 128}};
  options.arch = &small_chip();
  try {
    plgpu::kernel([&](const Ref& o, Scratch& s) { body(o, s); }, options);
  } catch (const isa::Error& e) {
    return e.diagnostics().front().code.name() + ": " + e.diagnostics().front().message;
  }
  return "recorded";
}

const auto nothing = [](const Ref&, Scratch&) {};

TEST(SmallChip, TheRecorderKeepsItsLimits) {
  EXPECT_EQ(refusal(nothing, {.num_threads = 2, .thread_name = "wg"}), "recorded");
  EXPECT_THAT(refusal(nothing, {.num_threads = 3, .thread_name = "wg"}),
              HasSubstr("3 warpgroups are 384 threads, 256 are possible"));
  EXPECT_THAT(refusal(nothing, {.cluster = {8}, .cluster_names = {"c"}}),
              HasSubstr("at most 4 are possible"));
  const auto fill = [](const Ref&, Scratch& s) { s["x"].at(0).store(pl::Index(7)); };
  EXPECT_EQ(refusal(fill, {.scratch_types = {{"x", plgpu::SMEM({8 * 1024}, pl::s32)}}}), "recorded");
  EXPECT_THAT(refusal(fill, {.scratch_types = {{"x", plgpu::SMEM({32 * 1024}, pl::s32)}}}),
              HasSubstr("131072 bytes are allocated, 65536 are available"));
}

TEST(SmallChip, RegistersAndBoxesKeepItsLimits) {
  EXPECT_THAT(refusal([](const Ref&, Scratch&) { plgpu::set_max_registers(200, "increase"); }),
              HasSubstr("a multiple of 8 from 24 to 128"));
  EXPECT_THAT(refusal([](const Ref& o, Scratch&) { o.at(pl::ds(0, 128)).store(o.load()); }),
              HasSubstr("128 registers in each lane: a thread has 127"));
  EXPECT_THAT(refusal(nothing, {.scratch_types = {{"acc", plgpu::ACC({64, 256})}}}),
              HasSubstr("takes 128 registers of each lane; a lane has 127 at most"));
  EXPECT_THAT(refusal([](const Ref& o, Scratch& s) { plgpu::copy_smem_to_gmem(s["x"], o); },
                      {.scratch_types = {{"x", plgpu::SMEM({128, 128}, pl::f32)}}}),
              HasSubstr("TMA copies at most 64"));
}

}  // namespace
}  // namespace palladion::test
