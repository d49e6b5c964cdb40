// Programs that C++ takes and that mean something else than their author thinks: each is refused while
// recording, at the author's line, with the way to write it. Nothing wrong is recorded silently. The texts
// are golden. A message that states the permitted range or values has no help line: they are the way out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <thread>

#include "frontend/pipeline/nd_loop.h"
#include "tests/frontend/misuse.h"
#include "tests/support/golden.h"

namespace palladion::test {
namespace {

using pl::Index;
using plgpu::ACC;
using plgpu::BlockSpec;
using plgpu::Layout;

struct Sums {
  Scalar sum;
  Array array;
};

// One line each: the macro's line is the author's.
// clang-format off
std::vector<Misuse> assignments() {
  return {
      MISUSE("a number of the kernel in fori_loop", Scalar x = p; pl::fori_loop(0, 4, [&](Index) { x = x + 1; }); o.at(0).store(x.astype(pl::f32))),
      MISUSE("an array in fori_loop", Array x = a.load(); pl::fori_loop(0, 4, [&](Index) { x = x + 1.0F; }); o.store(x)),
      MISUSE("a host number in fori_loop", Scalar k = 0; pl::fori_loop(0, 4, [&](Index) { k += 1; }); o.at(0).store(k.astype(pl::f32))),
      MISUSE("n += i", Scalar k = 0; pl::fori_loop(0, 4, [&](Index i) { k += i; }); o.at(0).store(k.astype(pl::f32))),
      MISUSE("n -= i", Scalar k = p; pl::fori_loop(0, 4, [&](Index i) { k -= i; })),
      MISUSE("n *= 2", Scalar k = p; pl::fori_loop(0, 4, [&](Index) { k *= 2; })),
      MISUSE("x += y of arrays", Array x = a.load(); pl::fori_loop(0, 4, [&](Index) { x += 1.0F; })),
      MISUSE("a loop of one round", Scalar k = 0; pl::fori_loop(0, 1, [&](Index) { k += 1; })),
      MISUSE("an unrolled loop", Scalar k = 0; pl::fori_loop(0, 4, [&](Index) { k += 1; }, {.unroll = 4})),
      MISUSE("another handle in fori_loop", Array x = a.load(); Array y = x; pl::fori_loop(0, 4, [&](Index) { y = x; })),
      MISUSE("a number in when", Scalar x = p; pl::when(p == 0, [&] { x = 7; }); o.at(0).store(x.astype(pl::f32))),
      MISUSE("an array in when", Array x = a.load(); pl::when(p == 0, [&] { x = x * 2.0F; }); o.store(x)),
      MISUSE("in a when whose condition is known", Scalar x = p; pl::when(true, [&] { x = 7; })),
      MISUSE("in a branch of cond", Scalar x = p; pl::cond(p == 0, [&] { x = 1; }, [&] { x = 2; })),
      MISUSE("in while_loop", Scalar k = 0; pl::while_loop([&](Scalar x) { return x < 9; }, [&](Scalar x) { k = k + 1; return x + 1; }, p)),
      MISUSE("in a while_loop's condition", Scalar k = 0; pl::while_loop([&](Scalar x) { k = x; return x < 9; }, [&](Scalar x) { return x + 1; }, p)),
      MISUSE("in nd_loop", Scalar k = 0; plgpu::nd_loop({4, 4}, {.collective_axes = {"x"}}, [&](const plgpu::NDLoopInfo&) { k += 1; })),
      MISUSE("in a pipeline's body", Array sum = plgpu::zeros({128}, pl::f32); plgpu::emit_pipeline([&](const pl::Indices&, const Ref& x) { sum = sum + x.load(); }, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a)),
      MISUSE_OF(2, "in a warp-specialised pipeline's body", Array sum = plgpu::zeros({128}, pl::f32); plgpu::emit_pipeline_warp_specialized([&](const pl::Indices&, const Ref& x) { sum = sum + x.load(); }, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}, .wg_axis = "wg"})(a)),
      MISUSE("in an index_map", Scalar k = 0; plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [&](Index i) { k = i; return i; })}})(a)),
      MISUSE("in a loop within a loop", pl::fori_loop(0, 4, [&](Index) { Scalar k = 0; pl::fori_loop(0, 4, [&](Index i) { k += i; }); o.at(0).store(k.astype(pl::f32)); })),
      MISUSE("in a when within a loop", pl::fori_loop(0, 4, [&](Index i) { Scalar k = i; pl::when(i > 2, [&] { k = 0; }); o.at(k).store(0.0F); })),
      MISUSE("a member of a struct", Sums sums; pl::fori_loop(0, 4, [&](Index i) { sums.sum = sums.sum + i; })),
      MISUSE("a whole struct", Sums sums{p, a.load()}; pl::fori_loop(0, 4, [&](Index i) { sums = Sums{i, a.load()}; })),
      MISUSE("an element of a tuple", std::tuple<Scalar, Scalar> t{p, p}; pl::fori_loop(0, 4, [&](Index i) { std::get<1>(t) = i; })),
      MISUSE("std::tie", Scalar x = p; Scalar y = p; pl::fori_loop(0, 4, [&](Index i) { std::tie(x, y) = std::tuple{i, i}; })),
      MISUSE("an element of std::array", std::array<Scalar, 2> t{p, p}; pl::fori_loop(0, 4, [&](Index i) { t[0] = i; })),
      MISUSE("an element of std::vector", std::vector<Array> t(2, a.load()); pl::fori_loop(0, 4, [&](Index) { t[1] = t[0]; })),
      MISUSE("an element of std::map", std::map<int, Scalar> t; t[0] = p; pl::when(p == 0, [&] { t[0] = 1; })),
      MISUSE("std::optional that holds one", std::optional<Scalar> x = p; pl::when(p == 0, [&] { x = 1; })),
      MISUSE("std::vector::erase", std::vector<Scalar> t{p, p + 1, p + 2}; pl::when(p == 0, [&] { t.erase(t.begin()); })),
      MISUSE("std::swap", Scalar x = p; Scalar y = 0; pl::when(p == 0, [&] { std::swap(x, y); })),
      MISUSE("through a pointer", Scalar x = p; Scalar* at = &x; pl::when(p == 0, [&] { *at = 1; })),
      MISUSE("through a parameter by reference", Scalar x = p; const auto add = [](Scalar& y) { y += 1; }; pl::fori_loop(0, 4, [&](Index) { add(x); })),
      MISUSE("a capture by copy of a mutable lambda", pl::fori_loop(0, 4, [x = Scalar(p)](Index) mutable { x += 1; })),
      MISUSE("a static handle", static Scalar x = 0; pl::fori_loop(0, 4, [&](Index) { x += 1; })),
      MISUSE("which reference is meant in a loop", Ref from = s["x"]; Ref to = s["y"]; pl::fori_loop(0, 4, [&](Index) { std::swap(from, to); })),
      MISUSE("which reference is meant under a condition", Ref from = s["x"]; pl::when(p == 0, [&] { from = s["y"]; }); o.store(from.load())),
      MISUSE("which barrier is meant", BarrierRef wait = s.barrier("b").at(0); pl::when(p == 0, [&] { wait = s.barrier("b").at(1); }); plgpu::barrier_wait(wait)),
  };
}

std::vector<Misuse> escapes() {
  return {
      MISUSE("an array pushed in a loop", std::vector<Array> rows; pl::fori_loop(0, 4, [&](Index) { rows.push_back(a.load()); }); o.store(rows[0])),
      MISUSE("an array pushed under a condition", std::vector<Array> rows; pl::when(p == 0, [&] { rows.push_back(a.load()); }); o.store(rows[0] + 1.0F)),
      MISUSE("an array kept behind a pointer", std::shared_ptr<Array> x; pl::fori_loop(0, 4, [&](Index) { x = std::make_shared<Array>(a.load()); }); o.store(*x)),
      MISUSE("a number kept in an optional", std::optional<Scalar> x; pl::when(p == 0, [&] { x.emplace(p * 3); }); o.at(*x).store(0.0F)),
      MISUSE("a host number kept in an optional", std::optional<Scalar> x; pl::when(p == 0, [&] { x = 7; }); o.at(0).store(x ? *x : Scalar(0))),
      MISUSE("a condition kept in an optional", std::optional<Scalar> c; pl::when(p == 0, [&] { c.emplace(p > 2); }); pl::when(*c, [&] { o.at(0).store(0.0F); })),
      MISUSE("the index after its loop", std::optional<Index> last; pl::fori_loop(0, 4, [&](Index i) { last.emplace(i); }); o.at(*last).store(0.0F)),
      MISUSE("the index plus a number after its loop", std::vector<Index> all; pl::fori_loop(0, 4, [&](Index i) { all.push_back(i); }); o.at(all[0] + 1).store(0.0F)),
      MISUSE("a carry's value of one round", std::vector<Scalar> all; pl::fori_loop(0, 4, [&](Index, Scalar x) { all.push_back(x); return x + 1; }, p); o.at(all[0]).store(0.0F)),
      MISUSE("a value of the other branch", std::optional<Array> x; pl::cond(p == 0, [&] { x.emplace(a.load()); }, [&] { o.store(*x); })),
      MISUSE("a value of while_loop's condition", std::optional<Scalar> c; pl::while_loop([&](Scalar x) { c.emplace(x * 3); return x < 9; }, [&](Scalar x) { return x + 1; }, p); o.at(*c).store(0.0F)),
      MISUSE("a value of an earlier round of a loop within", std::vector<Array> rows; pl::fori_loop(0, 4, [&](Index) { pl::fori_loop(0, 4, [&](Index) { rows.push_back(a.load()); }); o.store(rows.back()); })),
      MISUSE("a carry that starts as one of a body", std::vector<Array> rows; pl::when(p == 0, [&] { rows.push_back(a.load()); }); pl::fori_loop(0, 4, [&](Index, Array x) { return x; }, rows[0])),
      MISUSE("a bound that a body made", std::optional<Scalar> c; pl::when(p == 0, [&] { c.emplace(p * 3); }); pl::fori_loop(0, *c, [&](Index) {})),
      MISUSE("a reduction of an array of a body", std::vector<Array> rows; pl::when(p == 0, [&] { rows.push_back(a.load()); }); o.at(0).store(rows[0].sum_all())),
      MISUSE("a cast of an array of a body", std::vector<Array> rows; pl::when(p == 0, [&] { rows.push_back(a.load()); }); n.store(rows[0].astype(pl::s32))),
      MISUSE("a view taken under a condition", std::optional<Ref> x; pl::when(p == 0, [&] { x = s["x"].at(pl::ds(0, 128)); }); x->store(plgpu::zeros({128}, pl::f32))),
      MISUSE("a view at the loop's index", std::vector<Ref> x; pl::fori_loop(0, 4, [&](Index i) { x.push_back(a.at(pl::ds(i * 64, 64))); }); x[0].load()),
      MISUSE("a barrier at the loop's index", std::vector<BarrierRef> x; pl::fori_loop(0, 4, [&](Index i) { x.push_back(s.barrier("b").at(i)); }); plgpu::barrier_wait(x[0])),
      MISUSE("a pipeline's buffer after it", std::optional<Ref> kept; plgpu::emit_pipeline([&](const pl::Indices&, const Ref& x) { kept.emplace(x); }, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a); kept->load()),
      MISUSE("a pipeline's indices after it", std::optional<pl::Indices> kept; plgpu::emit_pipeline([&](const pl::Indices& i, const Ref&) { kept.emplace(i); }, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a); o.at((*kept)[0]).store(0.0F)),
      MISUSE("an nd_loop's place after it", std::optional<Scalar> kept; plgpu::nd_loop({4, 4}, {.collective_axes = {"x"}}, [&](const plgpu::NDLoopInfo& i) { kept.emplace(i.index[0]); }); o.at(*kept).store(0.0F)),
      MISUSE("run_scoped that returns its reference", Ref x = pl::run_scoped([](Ref r) { return r; }, SMEM({256}, pl::f32)); x.store(plgpu::zeros({256}, pl::f32))),
      MISUSE("run_scoped that keeps its reference", std::optional<Ref> x; pl::run_scoped([&](Ref r) { x = r; }, SMEM({256}, pl::f32)); o.store(x->load())),
      MISUSE("run_scoped that assigns its reference", Ref x = s["x"]; pl::run_scoped([&](Ref r) { x = r; }, SMEM({256}, pl::f32)); o.store(x.load())),
      MISUSE("run_scoped that returns a view", Ref x = pl::run_scoped([](Ref r) { return r.at(pl::ds(0, 128)); }, SMEM({256}, pl::f32)); x.load()),
      MISUSE("run_scoped that returns its barrier", BarrierRef x = pl::run_scoped([](BarrierRef r) { return r; }, plgpu::Barrier()); plgpu::barrier_arrive(x)),
      MISUSE("run_scoped that returns its accumulator", Ref x = pl::run_scoped([](Ref r) { return r; }, ACC({64, 64})); x.load()),
      MISUSE("run_scoped that returns its union", auto x = pl::run_scoped([](plgpu::UnionRef r) { return r; }, plgpu::RefUnion({{SMEM({256}, pl::f32)}})); x[0][0].load()),
      MISUSE("run_state that keeps its accumulator", std::optional<Ref> x; pl::run_state([&](Ref r) { x = r; }, ACC.init(plgpu::zeros({64, 64}, pl::f32))); x->load()),
      MISUSE("a copy into memory of a scope that ended", Ref x = pl::run_scoped([](Ref r) { return r; }, SMEM({256}, pl::f32)); plgpu::copy_gmem_to_smem(a, x, s.barrier("one"))),
      MISUSE("a scope of an earlier round", std::vector<Ref> x; pl::fori_loop(0, 4, [&](Index) { pl::run_scoped([&](Ref r) { x.push_back(r); }, SMEM({256}, pl::f32)); x.back().load(); })),
      MISUSE_LEFT("an array of another kernel", o.store(left.array)),
      MISUSE_LEFT("an array of another kernel plus one", o.store(left.array + 1.0F)),
      MISUSE_LEFT("a number of another kernel", o.at(left.number).store(0.0F)),
      MISUSE_LEFT("a reference of another kernel", o.store(left.ref.load())),
      MISUSE_LEFT("a barrier of another kernel", plgpu::barrier_wait(left.barrier)),
      MISUSE_HOST("an array after its kernel", (void)(of_another_kernel().array + 1.0F)),
      MISUSE_HOST("a number after its kernel", (void)(of_another_kernel().number * 3)),
      MISUSE_HOST("a reference after its kernel", of_another_kernel().ref.load()),
      MISUSE_HOST("a barrier after its kernel", plgpu::barrier_wait(of_another_kernel().barrier)),
      MISUSE("a verb in another thread of the host", std::exception_ptr e; std::thread([&] { try { s["x"].load(); } catch (...) { e = std::current_exception(); } }).join(); std::rethrow_exception(e)),
      MISUSE("a value in a kernel of another thread", std::exception_ptr e; const Array x = a.load(); std::thread([&] { try { plgpu::kernel([&](Ref out) { out.store(x); }, {.out_type = {pl::f32, {256}}}); } catch (...) { e = std::current_exception(); } }).join(); std::rethrow_exception(e)),
      MISUSE("a kernel within a kernel", plgpu::kernel([](Ref) {}, {.out_type = {pl::f32, {1}}})),
  };
}

std::vector<Misuse> handles() {
  return {
      MISUSE("an Array that was never assigned", Array x; o.store(x)),
      MISUSE("a cast of an Array that was never assigned", Array x; o.store(x.astype(pl::f32))),
      MISUSE("a sum of an Array that was never assigned", Array x; x.sum_all()),
      MISUSE("an Array that was never assigned as a carry", Array x; pl::fori_loop(0, 4, [&](Index, Array y) { return y; }, x)),
      MISUSE("an Array moved away", Array x = a.load(); const Array y = std::move(x); o.store(x)),
      MISUSE("a Ref that was never given", Ref x; x.load()),
      MISUSE("a view of a Ref that was never given", Ref x; x.at(0)),
      MISUSE("a Ref moved away", Ref x = a; const Ref y = std::move(x); x.load()),
      MISUSE("a BarrierRef that was never given", BarrierRef x; plgpu::barrier_arrive(x)),
      MISUSE("an index of a BarrierRef that was never given", BarrierRef x; x.at(0)),
      MISUSE("a copy that signals no barrier", plgpu::copy_gmem_to_smem(a, s["x"], BarrierRef())),
      MISUSE("a BarrierRef moved away", BarrierRef x = s.barrier("one"); const BarrierRef y = std::move(x); plgpu::barrier_wait(x)),
      MISUSE("a group that a RefUnion does not have", s.ref_union("u")[2]),
      MISUSE("a dimension that a Ref does not have", (void)a.shape(3)),
      MISUSE("a dimension that an Array does not have", (void)a.load().shape(1)),
      MISUSE("a host loop to a number of the kernel", for (int k = 0; k < p.as_int(); ++k) { o.at(k).store(0.0F); }),
      MISUSE("a host if on a number of the kernel", if (p.as_int() == 0) { o.at(0).store(0.0F); }),
      MISUSE("as_double of a number of the kernel", (void)a.at(0).load_scalar().as_double()),
  };
}

std::vector<Misuse> numbers() {
  return {
      MISUSE("an index with a fraction", o.at(1.5).store(0.0F)),
      MISUSE("an index of floats", o.at(a.at(0).load_scalar()).store(0.0F)),
      MISUSE("a bool as an index", o.at(p == 0).store(0.0F)),
      MISUSE("a slice that starts at a fraction", (void)a.at(pl::ds(0.5, 64))),
      MISUSE("a slice of a negative size", (void)a.at(pl::ds(0, -64))),
      MISUSE("a slice of no elements", (void)a.at(pl::ds(p, 0))),
      MISUSE("a slice of 2^62 elements", (void)a.at(pl::ds(0, int64_t{1} << 62))),
      MISUSE("a slice that starts before the array", (void)s["x"].at(pl::ds(-1, 64))),
      MISUSE("a slice that starts at 2^62", (void)s["x"].at(pl::ds(int64_t{1} << 62, 64))),
      MISUSE("a negative index", (void)s["x"].at(-1)),
      MISUSE("a barrier's index with a fraction", plgpu::barrier_wait(s.barrier("b").at(0.5))),
      MISUSE("a negative index of a barrier", plgpu::barrier_wait(s.barrier("b").at(-1))),
      MISUSE("a bound with a fraction", pl::fori_loop(0, 2.5, [](Index) {})),
      MISUSE("a step of 0", pl::fori_loop(0, 4, [](Index) {}, {.step = 0})),
      MISUSE("a step backwards", pl::fori_loop(4, 0, [](Index) {}, {.step = -1})),
      MISUSE("unrolled 0 times", pl::fori_loop(0, 4, [](Index) {}, {.unroll = 0})),
      MISUSE("unrolled with a dynamic bound", pl::fori_loop(0, p, [](Index) {}, {.unroll = 2})),
      MISUSE("unrolled 10^9 times", pl::fori_loop(0, 1'000'000'000, [&](Index i) { o.at(i & 1).store(0.0F); }, {.unroll = 1'000'000'000})),
      MISUSE("a host loop without end", for (;;) { o.at(0).store(0.0F); }),
      MISUSE("a while_loop without end", pl::while_loop([](Scalar) { return true; }, [](Scalar x) { return x + 1; }, p)),
      MISUSE("a division by zero", o.at(p / 0).store(0.0F)),
      MISUSE("a remainder by zero", o.at(p % 0).store(0.0F)),
      MISUSE("cdiv by zero", o.at(pl::cdiv(p, 0)).store(0.0F)),
      MISUSE("an array divided by zero", n.store(n.load() / 0)),
      MISUSE("a shift by more bits than there are", o.at(p << 40).store(0.0F)),
      MISUSE("a shift by a negative number", o.at(p >> -1).store(0.0F)),
      MISUSE("an array shifted by too much", n.store(n.load() << 32)),
      MISUSE("a number too large for the dtype", n.store(n.load() + 5'000'000'000)),
      MISUSE("a number too large for a cast", n.at(0).store(Scalar(5'000'000'000).astype(pl::s32))),
      MISUSE("a fraction in an array of integers", n.store(n.load() * 0.5)),
      MISUSE("a fraction stored as an integer", n.at(0).store(2.5)),
      MISUSE("full of a fraction as integers", n.store(plgpu::full({256}, 2.5, pl::s32))),
      MISUSE("a promise of a multiple of 0", (void)pl::multiple_of(p, 0)),
      MISUSE("a promise of a negative multiple", (void)pl::multiple_of(p, -8)),
      MISUSE("a promise that is wrong", (void)pl::multiple_of(12, 8)),
      MISUSE("a signal of a fraction", plgpu::semaphore_signal(pl::get_global(plgpu::SemaphoreType::REGULAR()), 1.5)),
      MISUSE("a wait for a fraction", plgpu::semaphore_wait(pl::get_global(plgpu::SemaphoreType::REGULAR()), 0.5)),
      MISUSE("a delay of a fraction", pl::delay(1.5)),
      MISUSE("a negative delay", pl::delay(-1)),
      MISUSE("-1 groups left of copies", plgpu::wait_smem_to_gmem(-1)),
      MISUSE("-1 groups left of wgmma", plgpu::wgmma_wait(-1)),
      MISUSE("-8 registers", plgpu::set_max_registers(-8)),
      MISUSE("an action that does not exist", plgpu::set_max_registers(64, "more")),
      MISUSE("a program id that the grid lacks", (void)pl::program_id(1)),
      MISUSE("a negative program id", (void)pl::program_id(-1)),
      MISUSE("an axis without a name", (void)pl::axis_index("")),
      MISUSE("the size of an axis without a name", (void)pl::axis_size("")),
      MISUSE("a CTA that the cluster lacks", (void)plgpu::cluster_ref(s["x"], "c", 2)),
      MISUSE("a negative CTA of the cluster", (void)plgpu::cluster_ref(s["x"], "c", -1)),
      MISUSE("a scope over an axis that does not exist", pl::run_scoped(pl::collective("z"), [](Ref) {}, SMEM({256}, pl::f32))),
      MISUSE("a collective copy over one axis twice", plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("one"), {.collective_axes = {"c", "c"}})),
      MISUSE("a profile_scope without a name", plgpu::profile_scope("", [] {})),
      MISUSE("a planar_snake of nothing", (void)plgpu::planar_snake(p, {0, 4}, 0, 1)),
  };
}

std::vector<Misuse> carries() {
  return {
      MISUSE("another dtype", pl::fori_loop(0, 9, [](Index, Scalar x) { return x.astype(pl::f32); }, p)),
      MISUSE("another shape", pl::fori_loop(0, 9, [&](Index, Array) { return a.at(pl::ds(0, 128)).load(); }, a.load())),
      MISUSE("another layout", pl::fori_loop(0, 9, [&](Index, Array) { return a.load(Layout::WG_STRIDED({256}, 1)); }, a.load(Layout::WG_STRIDED({256}, 2)))),
      MISUSE("an array where a number was", pl::fori_loop(0, 9, [&](Index, Scalar) { return a.load(); }, p)),
      MISUSE("two where one was", pl::fori_loop(0, 9, [&](Index, std::vector<Scalar> x) { x.push_back(p); return x; }, std::vector<Scalar>{p})),
      MISUSE("an array that starts as a splat", pl::fori_loop(0, 9, [&](Index, Array x) { return x + a.load(); }, plgpu::zeros({256}, pl::f32))),
      MISUSE("of while_loop, another dtype", pl::while_loop([](Scalar x) { return x < 9; }, [](Scalar x) { return x.astype(pl::s64); }, p)),
      MISUSE("of nd_loop, another shape", plgpu::nd_loop({4}, {.collective_axes = {"x"}}, [&](const plgpu::NDLoopInfo&, Array) { return a.at(pl::ds(0, 128)).load(); }, a.load())),
      MISUSE("branches of two dtypes", pl::cond(p == 0, [&] { return p; }, [&] { return a.at(0).load_scalar(); })),
      MISUSE("branches of two shapes", pl::cond(p == 0, [&] { return a.load(); }, [&] { return a.at(pl::ds(0, 128)).load(); })),
      MISUSE("branches of an array and a number", pl::cond(p == 0, [&] { return a.load(); }, [&] { return p; })),
      MISUSE("a pipeline's body that takes other references", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a)),
      MISUSE("a pipeline with fewer references than specs", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})()),
      MISUSE("a pipeline with a carry that its body does not return", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&, Scalar) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}}, p)(a)),
      MISUSE("a pipeline over an empty grid", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {0}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a)),
      MISUSE("a pipeline with a fraction as its grid", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2.5}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a)),
      MISUSE("a pipeline of no steps at once", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}, .max_concurrent_steps = 0})(a)),
      MISUSE("a negative delay_release", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; }, {.delay_release = -1})}, .max_concurrent_steps = 2})(a)),
      MISUSE("a block of a negative size", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({-128}, [](Index i) { return i; })}})(a)),
      MISUSE("a block of another rank", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128, 1}, [](Index i) { return pl::Indices{i, 0}; })}})(a)),
      MISUSE("an index_map of another rank", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return pl::Indices{i, 0}; })}})(a)),
      MISUSE("an index_map with too many parameters", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i, Index) { return i; })}})(a)),
      MISUSE_OF(2, "a compute_context that runs its pipeline twice", plgpu::emit_pipeline_warp_specialized([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}, .wg_axis = "wg"}, [](auto& pipeline) { pipeline(); pipeline(); })(a)),
      MISUSE_OF(2, "a compute_context that does not run its pipeline", plgpu::emit_pipeline_warp_specialized([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}, .wg_axis = "wg"}, [](auto&) {})(a)),
  };
}

std::vector<Misuse> shapes() {
  return {
      MISUSE("iota of 2^62 elements", (void)plgpu::broadcasted_iota(pl::s32, {int64_t{1} << 62}, 0)),
      MISUSE("iota of 2^40 elements", (void)plgpu::broadcasted_iota(pl::s32, {int64_t{1} << 40}, 0)),
      MISUSE("iota along a dimension that is not there", (void)plgpu::broadcasted_iota(pl::s32, {256}, 1)),
      MISUSE("iota along a negative dimension", (void)plgpu::broadcasted_iota(pl::s32, {256}, -1)),
      MISUSE("zeros of 2^31 x 2^31 x 2^31 elements", o.store(plgpu::zeros({int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 31}, pl::f32))),
      MISUSE("zeros of a negative size", o.store(plgpu::zeros({-256}, pl::f32))),
      MISUSE("zeros of 100 dimensions", o.store(plgpu::zeros(pl::Shape(100, 1), pl::f32))),
      MISUSE("a broadcast to 2^62 elements", (void)a.load().broadcast_to({int64_t{1} << 54, 256})),
      MISUSE("a broadcast to 2^40 elements", (void)a.load().broadcast_to({int64_t{1} << 32, 256})),
      MISUSE("a broadcast to fewer dimensions", (void)m.at(pl::ds(0, 64), pl::ds(0, 64)).load().broadcast_to({64})),
      MISUSE("a broadcast along no dimension", (void)plgpu::broadcast_in_dim(a.load(), {4, 256}, {2})),
      MISUSE("a broadcast with too few dimensions", (void)plgpu::broadcast_in_dim(a.load(), {4, 256}, {})),
      MISUSE("a reshape to a negative size", (void)a.reshape({-1, 16})),
      MISUSE("a reshape to two negative sizes", (void)a.reshape({-16, -16})),
      MISUSE("a reshape to 2^62 elements", (void)a.reshape({int64_t{1} << 31, int64_t{1} << 31})),
      MISUSE("a reshape of an array to another size", (void)a.load().reshape({128})),
      MISUSE("a sum along a negative dimension", (void)a.load().sum(-2)),
      MISUSE("concatenate of nothing", (void)plgpu::concatenate({}, 0)),
      MISUSE("concatenate along no dimension", (void)plgpu::concatenate({a.load(), a.load()}, 1)),
      MISUSE("a slice of an array that ends before it starts", (void)plgpu::slice(a.load(), {128}, {64})),
      MISUSE("a slice beyond an array", (void)plgpu::slice(a.load(), {0}, {512})),
      MISUSE("a slice of another rank", (void)plgpu::slice(a.load(), {0, 0}, {128, 1})),
      MISUSE("squeeze of a dimension that is not 1", (void)plgpu::squeeze(a.load(), {0})),
      MISUSE("squeeze of a dimension that is not there", (void)plgpu::squeeze(a.load(), {3})),
      MISUSE("a layout of a negative shape", (void)Layout::WG_STRIDED({-256}, 1)),
      MISUSE("a layout with vectors of 0", (void)Layout::WG_STRIDED({256}, 0)),
      MISUSE("a reduced layout along no dimension", (void)Layout::WGMMA.reduce(5)),
      MISUSE("a layout cast of another shape", (void)plgpu::layout_cast(a.load(), Layout::WG_STRIDED({512}, 2))),
      MISUSE("a load of more than the registers hold", (void)m.load()),
      MISUSE("an accumulator of a negative size", pl::run_scoped([](Ref) {}, ACC({-64, 64}))),
      MISUSE("an accumulator of 2^62 columns", pl::run_scoped([](Ref) {}, ACC({64, int64_t{1} << 62}))),
      MISUSE("scoped SMEM of 2^62 elements", pl::run_scoped([](Ref) {}, SMEM({int64_t{1} << 62}, pl::f32))),
      MISUSE("scoped SMEM of a negative size", pl::run_scoped([](Ref) {}, SMEM({-256}, pl::f32))),
      MISUSE("semaphores of 2^62 elements", (void)pl::get_global(plgpu::SemaphoreType::REGULAR({int64_t{1} << 62}))),
      MISUSE("semaphores of a negative number", (void)pl::get_global(plgpu::SemaphoreType::REGULAR({-1}))),
      MISUSE_KERNEL("a result of 2^62 elements", {.out_type = {pl::f32, {int64_t{1} << 62}}}),
      MISUSE_KERNEL("a result of 2^31 x 2^31 x 4 elements", {.out_type = {pl::f32, {int64_t{1} << 31, int64_t{1} << 31, 4}}}),
      MISUSE_KERNEL("a result of a negative size", {.out_type = {pl::f32, {-1}}}),
      MISUSE_KERNEL("a result of 100 dimensions", {.out_type = {pl::f32, pl::Shape(100, 1)}}),
      MISUSE_KERNEL("SMEM of 2^62 elements", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({int64_t{1} << 62}, pl::f32)}}}),
      MISUSE_KERNEL("SMEM of 2^32 x 2^32 elements", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({int64_t{1} << 32, int64_t{1} << 32}, pl::f32)}}}),
      MISUSE_KERNEL("a union of 2^62 elements", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::RefUnion({{SMEM({int64_t{1} << 62}, pl::f32)}})}}}),
      MISUSE_KERNEL("a tiling of 0", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({64, 64}, pl::f16, {.transforms = {plgpu::TilingTransform({0, 64})}})}}}),
      MISUSE_KERNEL("a tiling of a negative size", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({64, 64}, pl::f16, {.transforms = {plgpu::TilingTransform({-8, 64})}})}}}),
      MISUSE_KERNEL("a negative swizzle", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({64, 64}, pl::f16, {.transforms = {plgpu::SwizzleTransform(-128)}})}}}),
      MISUSE_KERNEL("barriers of a negative number", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::Barrier({.num_barriers = {-2, -2}})}}}),
      MISUSE_KERNEL("a negative number of arrivals", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::Barrier({.num_arrivals = -1})}}}),
      MISUSE_KERNEL("more arrivals than a barrier counts", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::Barrier({.num_arrivals = int64_t{1} << 20})}}}),
  };
}

std::vector<Misuse> launches() {
  return {
      MISUSE_KERNEL("two scratches of one name", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({64}, pl::f32)}, {"x", SMEM({64}, pl::s32)}}}),
      MISUSE_KERNEL("a scratch and a barrier of one name", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", SMEM({64}, pl::f32)}, {"x", plgpu::Barrier()}}}),
      MISUSE_KERNEL("a scratch without a name", {.out_type = {pl::f32, {1}}, .scratch_types = {{"", SMEM({64}, pl::f32)}}}),
      MISUSE_KERNEL("a kernel without a name", {.out_type = {pl::f32, {1}}, .name = ""}),
      MISUSE_KERNEL("a kernel with a name that PTX does not take", {.out_type = {pl::f32, {1}}, .name = "my kernel"}),
      MISUSE_KERNEL("two axes of one name", {.out_type = {pl::f32, {1}}, .grid = {2, 2}, .grid_names = {"x", "x"}}),
      MISUSE_KERNEL("a thread with the name of an axis", {.out_type = {pl::f32, {1}}, .grid = {2}, .grid_names = {"x"}, .num_threads = 2, .thread_name = "x"}),
      MISUSE_KERNEL("a grid of 2^62 programs", {.out_type = {pl::f32, {1}}, .grid = {int64_t{1} << 62}}),
      MISUSE_KERNEL("a grid of 2^32 x 2^32 programs", {.out_type = {pl::f32, {1}}, .grid = {int64_t{1} << 32, int64_t{1} << 32}}),
      MISUSE_KERNEL("a grid of -1 programs", {.out_type = {pl::f32, {1}}, .grid = {-1}}),
      MISUSE_KERNEL("a cluster of 2^32 x 2^32 CTAs", {.out_type = {pl::f32, {1}}, .cluster = {int64_t{1} << 32, int64_t{1} << 32}}),
      MISUSE_KERNEL("a cluster of 0 CTAs", {.out_type = {pl::f32, {1}}, .cluster = {0}}),
      MISUSE_KERNEL("2^31 - 1 threads", {.out_type = {pl::f32, {1}}, .num_threads = 2147483647, .thread_name = "wg"}),
      MISUSE_KERNEL("-1 threads", {.out_type = {pl::f32, {1}}, .num_threads = -1, .thread_name = "wg"}),
      MISUSE_KERNEL("an alias of an input that does not exist", {.out_type = {pl::f32, {1}}, .input_output_aliases = {{0, 0}}}),
      MISUSE_HOST("one output as the alias of two inputs", plgpu::kernel([](const Ref&, const Ref&, const Ref&) {}, {.in_types = {{pl::f32, {1}}, {pl::f32, {1}}}, .out_type = {pl::f32, {1}}, .input_output_aliases = {{0, 0}, {1, 0}}})),
      MISUSE_KERNEL("a negative profile_space", {.out_type = {pl::f32, {1}}, .compiler_params = {.profile_space = -1}}),
      MISUSE_KERNEL("a profile_space of 2^60", {.out_type = {pl::f32, {1}}, .compiler_params = {.profile_space = int64_t{1} << 60}}),
      MISUSE_KERNEL("a negative reduction_scratch_bytes", {.out_type = {pl::f32, {1}}, .compiler_params = {.reduction_scratch_bytes = -1}}),
      MISUSE_HOST("more parameters than a kernel has", plgpu::kernel([](const std::vector<Ref>& refs, Scratch&) { for (const Ref& r : refs) r.store(0.0F); }, {.out_type = std::vector<pl::ShapeDtype>(5000, {pl::f32, {}})})),
      MISUSE_KERNEL("a cluster barrier over one axis twice", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::ClusterBarrier({.collective_axes = {"c", "c"}})}}, .cluster = {2}, .cluster_names = {"c"}}),
      MISUSE_KERNEL("a cluster barrier over no axis", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::ClusterBarrier({})}}, .cluster = {2}, .cluster_names = {"c"}}),
      MISUSE_KERNEL("a cluster barrier over an axis of the grid", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::ClusterBarrier({.collective_axes = {"x"}})}}, .grid = {2}, .grid_names = {"x"}, .cluster = {2}, .cluster_names = {"c"}}),
      MISUSE_OF(2, "scoped SMEM of one of two threads", pl::run_scoped([](Ref) {}, SMEM({64}, pl::f32))),
      MISUSE_OF(2, "emit_pipeline with two threads", plgpu::emit_pipeline([&](const pl::Indices&, const Ref&) {}, {.grid = {2}, .in_specs = {BlockSpec({128}, [](Index i) { return i; })}})(a)),
  };
}
// clang-format on

// Other lines move when a case is added above.
std::string without_lines(const std::string& text) {
  static const std::regex place("misuse_test\\.cpp:[0-9]+");
  return std::regex_replace(text, place, "misuse_test.cpp:LINE");
}

std::string refused(const Misuse& misuse) {
  try {
    misuse.record();
  } catch (const isa::Error& e) {
    const isa::Diagnostic& d = e.diagnostics().front();
    EXPECT_EQ(d.loc.line, misuse.line) << d.message;
    EXPECT_TRUE(d.loc.file.ends_with("misuse_test.cpp")) << d.loc.file;
    EXPECT_NE(std::string_view(e.what()).find(fmt::format("misuse_test.cpp:{}", misuse.line)),
              std::string::npos)
        << e.what();
    return without_lines(fmt::format("{}: {}\n{}", d.code.name(), d.message,
                                     d.help.empty() ? "" : "  help: " + d.help + "\n"));
  }
  ADD_FAILURE() << "was recorded";
  return "was recorded\n";
}

struct MisuseGroup {
  const char* name;
  std::vector<Misuse> (*cases)();
};

class Misuses : public testing::TestWithParam<MisuseGroup> {};

TEST_P(Misuses, AreRefusedWithTheirLine) {
  std::string text;
  for (const Misuse& misuse : GetParam().cases()) {
    SCOPED_TRACE(misuse.name);
    text += fmt::format("# {}\n{}\n", misuse.name, refused(misuse));
  }
  EXPECT_TRUE(golden::compare(fmt::format("frontend/misuse_{}.txt", GetParam().name), text));
}

INSTANTIATE_TEST_SUITE_P(All, Misuses,
                         testing::Values(MisuseGroup{"assignments", assignments},
                                         MisuseGroup{"escapes", escapes}, MisuseGroup{"handles", handles},
                                         MisuseGroup{"numbers", numbers}, MisuseGroup{"carries", carries},
                                         MisuseGroup{"shapes", shapes}, MisuseGroup{"launches", launches}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace palladion::test
