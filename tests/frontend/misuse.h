#pragma once
// A kernel with a bit of everything to misuse, and its misuses as rows of a table.
#include <functional>
#include <string>

#include "frontend/plgpu.h"

namespace palladion::test {

using pl::Scalar;
using plgpu::Array;
using plgpu::BarrierRef;
using plgpu::Ref;
using plgpu::Scratch;
using plgpu::SMEM;

struct Misuse {
  std::string name;
  uint32_t line;
  std::function<void()> record;
};

// a, n, m: inputs; o: output; p: a number that is known when the kernel runs.
using MisuseBody =
    std::function<void(const Ref& a, const Ref& n, const Ref& m, const Ref& o, const Scalar& p, Scratch& s)>;

inline void record_misuse(const MisuseBody& body, int threads) {
  const plgpu::AllocationOptions tiled{
      .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};
  plgpu::kernel([&](const Ref& a, const Ref& n, const Ref& m, const Ref& o,
                    Scratch& s) { body(a, n, m, o, pl::program_id(0), s); },
                {.in_types = {{pl::f32, {256}}, {pl::s32, {256}}, {pl::f16, {256, 256}}},
                 .out_type = {pl::f32, {256}},
                 .scratch_types = {{"x", SMEM({256}, pl::f32)},
                                   {"y", SMEM({256}, pl::f32)},
                                   {"tiles", SMEM({2, 64, 64}, pl::f16, tiled)},
                                   {"b", plgpu::Barrier({.num_barriers = {4}})},
                                   {"one", plgpu::Barrier()},
                                   {"cb", plgpu::ClusterBarrier({.collective_axes = {"c"}})},
                                   {"u", plgpu::RefUnion({{SMEM({256}, pl::f32)}, {SMEM({128}, pl::s32)}})}},
                 .grid = {4},
                 .grid_names = {"x"},
                 .cluster = {2},
                 .cluster_names = {"c"},
                 .num_threads = threads,
                 .thread_name = "wg"});
}

// What a kernel leaves behind, to be misused in the next one.
struct Left {
  Array array;
  Scalar number;
  Ref ref;
  BarrierRef barrier;
};
inline Left of_another_kernel() {
  Left left;
  record_misuse([&](const Ref& a, const Ref&, const Ref&, const Ref&, const Scalar& p,
                    Scratch& s) { left = {a.load(), p, a, s.barrier("one")}; },
                1);
  return left;
}
#define MISUSE_OF(threads, label, ...)                                                                  \
  Misuse {                                                                                              \
    label, __LINE__, [] {                                                                               \
      record_misuse([]([[maybe_unused]] const Ref& a, [[maybe_unused]] const Ref& n,                    \
                       [[maybe_unused]] const Ref& m, [[maybe_unused]] const Ref& o,                    \
                       [[maybe_unused]] const Scalar& p, [[maybe_unused]] Scratch& s) { __VA_ARGS__; }, \
                    threads);                                                                           \
    }                                                                                                   \
  }
#define MISUSE(label, ...) MISUSE_OF(1, label, __VA_ARGS__)
// With what another kernel left.
#define MISUSE_LEFT(label, ...)                                                                   \
  Misuse {                                                                                        \
    label, __LINE__, [] {                                                                         \
      const Left left = of_another_kernel();                                                      \
      record_misuse([&]([[maybe_unused]] const Ref& a, const Ref&, const Ref&,                    \
                        [[maybe_unused]] const Ref& o, const Scalar&, Scratch&) { __VA_ARGS__; }, \
                    1);                                                                           \
    }                                                                                             \
  }
#define MISUSE_KERNEL(label, ...)                                          \
  Misuse {                                                                 \
    label, __LINE__, [] { plgpu::kernel([](const Ref&) {}, __VA_ARGS__); } \
  }
#define MISUSE_HOST(label, ...)          \
  Misuse {                               \
    label, __LINE__, [] { __VA_ARGS__; } \
  }

}  // namespace palladion::test
