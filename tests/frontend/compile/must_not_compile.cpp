// Programs that C++ refuses: each marked line with a sentence that says what to write. compile_test.cpp
// compiles it and looks for the sentence at the line: `expect N: a part of the sentence`. Lines with the same
// N are compiled together; those that meet the same template differ in N, because a compiler reports each
// once.
#include <algorithm>

#include "frontend/pipeline/nd_loop.h"
#include "frontend/plgpu.h"

using namespace palladion;  // NOLINT
using pl::Index;
using pl::Scalar;
using plgpu::Array;
using plgpu::BarrierRef;
using plgpu::Ref;
using plgpu::Scratch;

// clang-format off
void body(Ref a, Ref out, Scratch& s) {
  const Scalar p = pl::program_id(0);
  const Array x = a.load();
  // What looks like a store.
  out.at(0) = a.at(0);            // expect 1: out.at(i) = a.at(i) is out.at(i).store(a.at(i).load())
  out.at(0) = x;                  // expect 1: out.at(i) = x is out.at(i).store(x)
  out.at(0) = 1.0F;               // expect 1: out.at(i) = x is out.at(i).store(x)
  out.transpose({0}) = a;         // expect 2: an assignment stores nothing
  s["x"] = x;                     // expect 1: out = x is out.store(x)
  s["x"] = s["y"];                // expect 1: out = a is out.store(a.load())
  a.load()[{pl::ds(0, 4)}] = x;   // expect 1: an assignment to a temporary plgpu::Array stores nothing
  x + x = x;                      // expect 2: an assignment to a temporary plgpu::Array stores nothing
  a.at(0).load_scalar() = 1;      // expect 1: an assignment to a temporary pl::Scalar stores nothing
  s.barrier("b").at(0) = s.barrier("b").at(1);  // expect 1: barriers are allocated once
  // What the host would decide.
  if (pl::axis_index("x") == 0) out.store(x);  // expect 1: if (x) is pl::when(x, body)
  while (p < 4) out.store(x);                  // expect 2: while (x) is pl::while_loop
  for (int i = 0; i < p; ++i) out.store(x);    // expect 3: a pl::Scalar is known when the kernel runs
  out.store(p == 0 ? x : x + 1.0F);            // expect 4: x ? a : b is pl::where(x, a, b)
  if (p) out.store(x);                         // expect 5: if (x) is pl::when(x, body)
  if (!p) out.store(x);                        // expect 6: if (x) is pl::when(x, body)
  if (p == 0 && p < 4) out.store(x);           // expect 7: if (x) is pl::when(x, body)
  if (bool first = bool(p == 0); first) out.store(x);  // expect 8: a pl::Scalar is known when the kernel runs
  const int n = static_cast<int>(p);           // expect 1: a pl::Scalar is known when the kernel runs
  if (x > 0.0F) out.store(x);                  // expect 1: elements are selected with plgpu::where
  if (x == x && x > 0.0F) out.store(x);        // expect 2: elements are selected with plgpu::where
  out.store(x > 0.0F ? x : x);                 // expect 3: elements are selected with plgpu::where
  out.at(std::min(p, p + 1)).store(0.0F);      // expect 9: std::min is pl::minimum
  out.at(std::max(p, Scalar(4))).store(0.0F);  // expect 10: std::min is pl::minimum
  out.store(std::max(x, x));                   // expect 4: minima with plgpu::minimum
  switch (p) { default: break; }               // expect 1: switch quantity not an integer
  const int m = p;                             // expect 1: cannot convert
  const double d = x;                          // expect 1: cannot convert
  const bool b = p == 0;                       // expect 1: cannot convert
  // Bodies.
  pl::fori_loop(0, 4, [&](Index) { return x; }, x);           // expect 1: the body takes (pl::Index i, carry...)
  pl::fori_loop(0, 4, [&](Index, Array y, Array) { return y; }, x);  // expect 1: one parameter for each initial value
  pl::fori_loop(0, 4, [&](Array y) { return y; }, x);         // expect 1: the body takes (pl::Index i, carry...)
  pl::fori_loop(0, 4, [&](Index, Array& y) { return y; }, x); // expect 1: by value or by const reference
  pl::fori_loop(0, 4, [&](Index, Array) {}, x);               // expect 1: it returns nothing
  pl::fori_loop(0, 4, [&](Index, Array, Scalar) {}, x, p);    // expect 1: it returns nothing
  pl::fori_loop(0, 4, [&](Index, Array, Scalar) { return x; }, x, p);  // expect 1: as many values as it takes
  pl::fori_loop(0, 4, [&](Index, Array y) { return y; });     // expect 1: a body that also takes a carry needs its initial value
  pl::fori_loop(0, 4, [&] { out.store(x); });                 // expect 1: the body takes (pl::Index i)
  pl::fori_loop(0, 4, [&](Index) { return x; });              // expect 1: what the body returns is lost
  pl::fori_loop(0, 4, [&](Index, Ref r) { return r; }, a);    // expect 1: a carry is a number, an array
  pl::fori_loop(0, 4, [&](Index, BarrierRef r) { return r; }, s.barrier("b"));  // expect 1: a carry is a number, an array
  pl::while_loop([&](Scalar y) { return y < 4; }, [&](Scalar) {}, p);        // expect 1: the body returns the next carry
  pl::while_loop([&](Scalar) {}, [&](Scalar y) { return y; }, p);            // expect 1: condition(carry) gives a pl::Scalar
  pl::while_loop([&] { return p < 4; }, [&](Scalar y) { return y; }, p);     // expect 1: condition(carry) gives a pl::Scalar
  pl::when(p == 0, [&] { return x; });                        // expect 1: what the body returns is lost
  pl::when(p == 0, [&](Index) {});                            // expect 1: the body is a function without parameters
  pl::cond(p == 0, [&] { return x; }, [&] {});                // expect 1: one branch returns a value, the other nothing
  pl::cond(p == 0, [&](Index) {}, [&] {});                    // expect 1: the branches are functions without parameters
  plgpu::nd_loop({4}, {.collective_axes = {"x"}}, [&](const plgpu::NDLoopInfo&, Array) {}, x);  // expect 1: plgpu::nd_loop
  plgpu::nd_loop({4}, {.collective_axes = {"x"}}, [&](Index) {});            // expect 1: plgpu::nd_loop
  pl::run_scoped([](Ref) {});                                 // expect 1: run_scoped: nothing is allocated
  pl::run_scoped([](Ref, Ref) {}, plgpu::ACC({64, 64}));      // expect 1: one parameter for each type
  pl::run_state([](Ref) {});                                  // expect 1: Expected at least one accumulator
}

void older_names(Ref a, Scratch& s) {
  const Array x = a.load();
  plgpu::SMEM({8, 64}, pl::f16, {.transforms = {plgpu::TileTransform({8, 64})}});  // expect 1: plgpu::TileTransform is plgpu::TilingTransform today
  plgpu::SMEM({8, 64}, pl::f16, {.transforms = {plgpu::TransposeTransform({1, 0})}});  // expect 1: plgpu::transpose_ref(ref, permutation)
  a.load(plgpu::Layout::WGMMA_ROW);            // expect 1: Layout::WGMMA_ROW is Layout::WGMMA.reduce(1) today
  a.load(plgpu::Layout::WGMMA_COL);            // expect 1: Layout::WGMMA_COL is Layout::WGMMA.reduce(0) today
  plgpu::layout_cast(x, plgpu::Layout::TCGEN05_ROW);  // expect 1: Layout::TCGEN05_ROW is Layout::TCGEN05.reduce(1) today
  plgpu::tcgen05_commit(s.barrier("b"));       // expect 1: plgpu::tcgen05_commit is plgpu::tcgen05_commit_arrive today
  plgpu::TryCancelResultRef();                 // expect 1: plgpu::TryCancelResultRef is plgpu::TryClusterCancelResult today
  plgpu::Semaphore();                          // expect 1: plgpu::Semaphore is plgpu::SemaphoreType::REGULAR today
  plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("b"), {.collective_axes = "x", .partitioned_axis = 1});  // expect 1: .leader_tracked = plgpu::CopyPartition::PARTITIONED(n) today
  plgpu::kernel([](const Ref&) {}, {.out_shape = {{pl::f32, {4}}}});  // expect 1: .out_shape is .out_type today
  plgpu::kernel([](const Ref&) {}, {.scratch_shapes = {{"x", plgpu::SMEM({4}, pl::f32)}}});  // expect 1: .scratch_shapes is .scratch_types today
}
// clang-format on
