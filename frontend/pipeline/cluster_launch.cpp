#include "frontend/pipeline/cluster_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using pl::Indices;
using pl::Scalar;

namespace {

constexpr int64_t answer_bytes = 16;

void check_chip(const Recorder& r, std::string_view verb) {
  if (r.arch().sm < 100)
    frontend::unsupported(
        fmt::format("{}: {} has no cluster launch control, Blackwell (sm_100) has", verb, r.arch().name),
        "record for a Blackwell chip (--arch b200), or deal the steps of a fixed grid with plgpu::nd_loop");
}

// The shared address of an answer.
Scalar answer_address(const Ref& result, std::string_view verb) {
  constexpr const char* help =
      "allocate plgpu::TryClusterCancelResult(), or index one of several with .at(slot)";
  if (result.space() != MemorySpace::smem || result.base().cluster_rank)
    fail(Code::bad_space,
         fmt::format("{}: the answer is in this CTA's SMEM, this is {}", verb, to_string(result)), help);
  if (const int64_t bytes = pl::volume(result.shape()) * pl::bytes(result.dtype());
      bytes != answer_bytes || !frontend::is_contiguous(result))
    fail(Code::bad_shape,
         fmt::format("{}: the answer takes 16 contiguous bytes, {} has {}", verb, to_string(result), bytes),
         help);
  const Scalar offset = frontend::window_offset(result);
  if (offset.is_constant() && offset.as_int() % answer_bytes != 0)
    fail(Code::unaligned_slice,
         fmt::format("{}: the answer begins at byte {} of \"{}\", it must be a multiple of 16", verb,
                     offset.as_int(), result.name()),
         help);
  return frontend::shared_address(result);
}

void check_barrier(const Recorder& r, const BarrierRef& barrier, std::string_view verb) {
  barrier.single(verb);
  const BarrierRef::State& s = barrier.state();
  if (s.type.cluster)
    fail(Code::bad_barrier, fmt::format("{}: \"{}\" is a ClusterBarrier", verb, s.name),
         "use plgpu::Barrier: the answer arrives at the barrier of each CTA");
  if (s.type.options.num_arrivals != r.thread_count())
    fail(Code::bad_barrier,
         fmt::format("{}: barrier \"{}\" expects {} arrivals, the kernel has {} thread{}", verb, s.name,
                     s.type.options.num_arrivals, r.thread_count(), r.thread_count() == 1 ? "" : "s"),
         "give it .num_arrivals = number of threads: each of them calls the verb");
}

// The thread that asks for the cluster.
Scalar is_first_thread(Recorder& r) { return Scalar::from_register(DType::s32, r.thread.index(), true) == 0; }
Scalar asks_for_cluster(Recorder& r) { return is_first_thread(r) && frontend::cluster_rank() == 0; }

Operand with(Recorder& r, const Operand& guard, const Scalar& condition) {
  if (condition.is_constant()) return guard;
  return r.pure("and.pred", {guard, condition.operand()}, Type::pred);
}

// Places of a program along axes of the grid, from its number.
Indices grid_indices(const Recorder& r, const Scalar& program, const std::vector<std::string>& names,
                     std::string_view verb) {
  const auto& grid = r.mesh().grid;
  Indices out;
  for (const std::string& name : names) {
    const auto axis = std::ranges::find_if(grid, [&](const frontend::Axis& a) { return a.name == name; });
    if (name.empty() || axis == grid.end())
      fail(Code::unknown_axis, fmt::format("{}: the grid has no axis named \"{}\"", verb, name),
           "name axes of grid_names");
    int64_t inner = 1;
    for (auto a = axis + 1; a != grid.end(); ++a) inner *= a->size;
    Scalar index = program / inner;
    if (axis != grid.begin()) index = index % axis->size;
    out.push_back(axis->size == 1 ? Scalar(0) : index);
  }
  return out;
}

void check_names(const std::vector<std::string>& grid_names, std::string_view verb) {
  if (grid_names.empty())
    fail(Code::unknown_axis, fmt::format("{}: grid_names is empty", verb),
         "name the axes of the grid whose indices are wanted");
  frontend::check_distinct(grid_names, verb);
}

}  // namespace

SmemType TryClusterCancelResult(std::optional<int64_t> num_buffers, std::source_location loc) {
  return SMEM(num_buffers ? Shape{*num_buffers, answer_bytes} : Shape{answer_bytes}, DType::s8, {}, loc);
}

void try_cluster_cancel(const Ref& result, const BarrierRef& barrier, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "try_cluster_cancel";
  check_chip(r, verb);
  r.needs_warpgroup(verb);
  check_barrier(r, barrier, verb);
  const Scalar target = answer_address(result, verb);
  int64_t mbar_offset = 0;
  const Operand mbar = barrier.address(verb, &mbar_offset);
  // The first thread of each CTA announces the bytes that reach its CTA.
  const Operand elected = r.elected();
  const Scalar bytes = pl::where(is_first_thread(r), Scalar(answer_bytes), Scalar(0));
  barrier.state().copy_arrival(r, mbar, mbar_offset, bytes.operand(), elected);
  r.emit(fmt::format("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128",
                     r.mesh().cluster_size() > 1 ? ".multicast::cluster::all" : ""),
         {Operand::address(target.without_offset().as_register(), target.offset()),
          Operand::address(mbar, mbar_offset)},
         with(r, elected, asks_for_cluster(r)));
}

std::pair<Indices, Scalar> query_cluster_cancel(const Ref& result, const std::vector<std::string>& grid_names,
                                                std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "query_cluster_cancel";
  check_chip(r, verb);
  check_names(grid_names, verb);
  const Scalar source = answer_address(result, verb);
  const Operand answer = r.reg(Type::b128), given = r.reg(Type::pred), first = r.reg(Type::b32);
  r.emit("ld.shared.b128",
         {answer, Operand::address(source.without_offset().as_register(), source.offset())});
  r.emit("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", {given, answer});
  // Decoding an answer that gives nothing is undefined.
  r.emit("mov.b32", {first, Operand::imm(0)});
  r.emit("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128", {first, answer}, given);
  const auto& cluster = r.mesh().cluster;
  const Scalar program =
      Scalar::from_register(DType::s32, first, true) / (cluster.empty() ? 1 : cluster.back().size);
  return {grid_indices(r, program, grid_names, verb), Scalar::from_register(DType::bool_, given)};
}

}  // namespace palladion::plgpu

namespace palladion::frontend {

using pl::Scalar;
using plgpu::BarrierRef;
using plgpu::NDLoopInfo;
using plgpu::Ref;

namespace {

constexpr std::string_view loop_verb = "dynamic_scheduling_loop";
constexpr int64_t slots = 2;  // of answers: the next is asked for while threads still read the last

void check_axes(const Recorder& r, const plgpu::DynamicSchedulingOptions& o) {
  const std::string& thread = r.mesh().thread.name;
  if (!o.thread_axis.empty() && o.thread_axis != thread)
    fail(Code::unknown_axis,
         fmt::format("{}: the threads have no axis named \"{}\"", loop_verb, o.thread_axis),
         "name the thread_name of the kernel");
  if (r.thread_count() > 1 && o.thread_axis.empty())
    fail(Code::unknown_axis,
         fmt::format("{}: the kernel has {} threads, and thread_axis is not given", loop_verb,
                     r.thread_count()),
         fmt::format("give {{.thread_axis = \"{}\"}}, and call it from every thread", thread));
  check_distinct(o.cluster_axes, loop_verb);
  for (const std::string& name : o.cluster_axes)
    if (std::ranges::none_of(r.mesh().cluster, [&](const Axis& a) { return a.name == name; }))
      fail(Code::unknown_axis, fmt::format("{}: the cluster has no axis named \"{}\"", loop_verb, name),
           "name all axes of cluster_names");
  for (const Axis& axis : r.mesh().cluster)
    if (axis.size > 1 && std::ranges::find(o.cluster_axes, axis.name) == o.cluster_axes.end())
      fail(Code::unknown_axis,
           fmt::format("{}: cluster_axes leaves out \"{}\", an axis of {} CTAs", loop_verb, axis.name,
                       axis.size),
           "name all axes of the cluster: its CTAs take over work together");
}

// Answers, the barriers at which they arrive, and those of the first CTA that count their readers.
struct Answers {
  Ref results;
  BarrierRef arrived, read;
};

Answers allocate(const Recorder& r, const Loc& loc) {
  const auto name = [&](const char* what) { return fmt::format("{} ({})", what, short_place(loc)); };
  plgpu::BarrierType readers = plgpu::Barrier(
      {.num_arrivals = r.thread_count() * r.mesh().cluster_size(), .num_barriers = {slots}}, loc);
  // Other CTAs' readers arrive.
  readers.orders_memory = r.mesh().cluster_size() > 1;
  return {
      plgpu::make_smem(plgpu::TryClusterCancelResult(slots, loc), name("cancelled programs"), loc),
      plgpu::make_barrier(plgpu::Barrier({.num_arrivals = r.thread_count(), .num_barriers = {slots}}, loc),
                          name("program cancelled"), loc),
      plgpu::make_barrier(readers, name("answer read"), loc)};
}

// This thread has read an answer: the first CTA may ask for another one into its place.
void tell_first_cta(Recorder& r, const BarrierRef& read) {
  r.emit("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", {});
  if (r.mesh().cluster_size() == 1) return plgpu::barrier_arrive(read);
  int64_t offset = 0;
  const Operand own = read.address(loop_verb, &offset);
  const Operand here = offset == 0 ? own : r.pure("add.s32", {own, Operand::imm(offset)}, Type::b32);
  const Operand first = r.pure("mapa.shared::cluster.u32", {here, Operand::imm(0)}, Type::b32);
  read.state().group_arrivals = true;
  r.emit("bar.warp.sync", {Operand::imm(-1)});
  r.emit("mbarrier.arrive.release.cluster.shared::cluster.b64", {Operand::sink(), Operand::address(first)},
         r.thread.elected_in_warp());
}

}  // namespace

void record_dynamic_loop(const std::vector<std::string>& grid_names,
                         const plgpu::DynamicSchedulingOptions& options,
                         const std::function<void(const NDLoopInfo&)>& body, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  plgpu::check_chip(r, loop_verb);
  r.needs_warpgroup(loop_verb);
  plgpu::check_names(grid_names, loop_verb);
  check_axes(r, options);
  const pl::detail::AllocationScope scope("plgpu::dynamic_scheduling_loop", loc);
  const Answers answers = allocate(r, loc);

  pl::Indices start;
  for (const std::string& name : grid_names) start.push_back(pl::axis_index(name));
  const Carry state = copy_carry(r, flatten(std::pair(start, Scalar(0))));
  const auto value = [&](size_t i) {
    return Scalar::from_register(pl::DType::s32, state[i].registers.front(), true);
  };
  const Operand again = r.label("program");
  Operand given;
  r.place(again);
  {
    const Region region(r, "plgpu::dynamic_scheduling_loop");
    NDLoopInfo info;
    for (size_t i = 0; i < grid_names.size(); ++i) info.index.push_back(value(i));
    info.local_index = value(grid_names.size());
    const Scalar slot = info.local_index % slots;
    record_when(plgpu::asks_for_cluster(r) && info.local_index >= slots, [&] {
      const VerbScope here(loc);
      plgpu::barrier_wait(answers.read.at(slot));
      r.emit("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", {});
    });
    plgpu::try_cluster_cancel(answers.results.at(slot), answers.arrived.at(slot));
    {
      const UserCode user;
      body(info);
    }
    plgpu::barrier_wait(answers.arrived.at(slot));
    const auto [next, success] = plgpu::query_cluster_cancel(answers.results.at(slot), grid_names);
    tell_first_cta(r, answers.read.at(slot));
    given = success.operand();
    assign_carry(r, state, flatten(std::pair(next, info.local_index + 1)), loop_verb);
  }
  r.emit("bra", {again}, given);
}

}  // namespace palladion::frontend
