#include "frontend/core/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/meetings.h"

namespace palladion::frontend {
namespace {

thread_local Recorder* active = nullptr;

// An Error where a kernel is being recorded already.
MeshAxes only_kernel(MeshAxes mesh) {
  if (active != nullptr)
    fail(Code::no_kernel,
         "a kernel is being recorded already: plgpu::kernel cannot be called inside a kernel body",
         "record the other kernel first, outside of this body, or call its body as a function");
  return mesh;
}

// The largest arrays of shared memory, a line each. Arrays of scopes that do not overlap share bytes.
std::string allocation_table(std::vector<isa::BufferName> buffers) {
  constexpr size_t most_lines = 16;
  std::ranges::stable_sort(buffers, std::ranges::greater{}, &isa::BufferName::bytes);
  std::string table;
  for (size_t i = 0; i < std::min(buffers.size(), most_lines); ++i) {
    const isa::BufferName& b = buffers[i];
    table += fmt::format("\n    {:>8} bytes at {:>8}  {}: {}{}", b.bytes, b.offset, b.name, b.element,
                         pl::to_string(b.shape));
  }
  if (buffers.size() > most_lines) table += fmt::format("\n    and {} more", buffers.size() - most_lines);
  return table;
}

}  // namespace

int64_t MeshAxes::cluster_size() const {
  pl::Shape sizes;
  for (const Axis& a : cluster) sizes.push_back(a.size);
  return pl::volume(sizes);
}

void check_distinct(const std::vector<std::string>& axes, std::string_view what) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (std::find(axes.begin(), axes.begin() + static_cast<int64_t>(i), axes[i]) !=
        axes.begin() + static_cast<int64_t>(i))
      fail(Code::duplicate_name, fmt::format("{}: the axis \"{}\" is named twice", what, axes[i]),
           "name each axis once");
}

Recorder* Recorder::current_or_null() { return active; }

Recorder& Recorder::current() {
  if (active == nullptr) {
    fail(Code::no_kernel, "this verb records an instruction, but no kernel is being recorded",
         "call it inside the body given to plgpu::kernel");
  }
  return *active;
}

Recorder::Recorder(std::string_view kernel_name, MeshAxes mesh, Options options)
    : Emitter(kernel_name, options.arch->ptx_target),
      mesh_(only_kernel(std::move(mesh))),
      options_(options),
      smem(*this),
      slots(*this, smem),
      tensor(*this, slots, arch().tensor_unit_columns),
      params(*this),
      thread(*this, thread_count()) {
  active = this;
  regions.open("plgpu::kernel", last_verb(), false);
}

Recorder::~Recorder() {
  active = nullptr;
  current_region = current_scope = 0;
}

std::string Recorder::distinct_name(const std::string& name) {
  const int n = ++taken_names_[name];
  return n == 1 ? name : fmt::format("{} #{}", name, n);
}

// --- warps of a thread ----------------------------------------------------------------------------

Operand Recorder::elected() { return warp ? thread.elected_in_warp() : thread.elected(); }

void Recorder::warpgroup_barrier() {
  if (warp) {
    emit("bar.warp.sync", {Operand::imm(-1)});
  } else if (thread_count() == 1) {
    emit("bar.sync", {Operand::imm(0)});
  } else {
    emit("bar.sync", {thread.named_barrier(), Operand::imm(group_threads)});
  }
}

void Recorder::needs_warpgroup(std::string_view what, std::string_view help) const {
  if (warp)
    fail(Code::bad_warp, fmt::format("{} in warp-level code: it takes a whole warpgroup", what),
         std::string(help.empty() ? "move it before or behind the warp-level code" : help));
}

void Recorder::uses(const void* barrier, BarrierUse::Kind kind) {
  // Warp-level code: a warp's copies follow its own waits, behind which its lanes meet.
  if (warp && kind == BarrierUse::Kind::copy) return;
  barrier_uses_.push_back({function().body.size(), barrier, kind});
}

void Recorder::meet_before_copies() {
  if (barrier_uses_.empty()) return;
  const std::vector<isa::Instruction>& body = function().body;
  Meetings meetings({module(), function(), arch()}, barrier_uses_,
                    {thread.known_index(), thread.known_elected(), options_.auto_barriers});
  for (int64_t t = 0; t < thread_count(); ++t) meetings.follow(t);
  for (size_t i = 0, size = body.size(); i < size; ++i) {
    if (!meetings.needed()[i]) continue;
    warpgroup_barrier();
    isa::Instruction barrier = take_last();
    barrier.origin = body[i].origin;
    insert_before(i, std::move(barrier));
  }
}

// --- the end of a recording: what the kernel does at its entry and before it ends, and the launch ---

void Recorder::record_entry() {
  const bool cluster = mesh_.cluster_size() > 1;
  if (!slots.has_barriers() && tensor.ctas() == 0 && !cluster) return;
  in_prologue([&] {
    if (slots.has_barriers()) slots.record_inits(thread.tid());
    if (tensor.ctas() != 0) tensor.record_allocation(thread.tid());
    if (cluster) {
      emit("barrier.cluster.arrive.release.aligned", {});
      emit("barrier.cluster.wait.acquire.aligned", {});
    } else {
      emit("bar.sync", {Operand::imm(0)});
    }
    tensor.record_address();
  });
}

void Recorder::record_end() {
  tensor.record_waits();
  if (mesh_.cluster_size() > 1) {
    // A CTA must not end while others still arrive at its barriers or write into its memory.
    emit("barrier.cluster.arrive.release.aligned", {});
    emit("barrier.cluster.wait.acquire.aligned", {});
  } else if (tensor.ctas() != 0) {
    emit("bar.sync", {Operand::imm(0)});
  }
  if (tensor.ctas() != 0) tensor.record_release(thread.tid());
  emit("ret", {});
}

void Recorder::fill_launch(plgpu::Kernel& kernel, const Loc& loc) {
  const int64_t bytes = smem.used() ? smem.end() + slots.bytes() : 0;
  if (bytes > arch().max_shared_bytes_per_cta) {
    fail(Code::too_much_smem,
         fmt::format(
             "the kernel exceeds the available shared memory: {} bytes are allocated, {} are available",
             bytes, arch().max_shared_bytes_per_cta),
         loc,
         "use fewer pipeline stages or smaller tiles; every SMEM array is aligned to 1024 bytes" +
             allocation_table(module().buffers));
  }
  if (const int64_t size = static_cast<int64_t>(isa::param_layout(module(), function()).size);
      size > arch().max_parameter_bytes)
    fail(Code::bad_type,
         fmt::format("the parameters of the kernel take {} bytes, {} are possible", size,
                     arch().max_parameter_bytes),
         loc, "a pointer takes 8 bytes, a tensor map 128: use fewer arrays, or slices of one");
  kernel.launch.entry = function().name;
  kernel.launch.dynamic_smem_bytes = static_cast<uint32_t>(bytes);
  kernel.launch.params = params.list();
  kernel.launch.programmatic_serialization = uses_dependency_wait;
  if (profile.recorded())
    kernel.launch.profile = {options_.profile_space, static_cast<uint32_t>(thread_count()), profile.scopes()};
}

void Recorder::finish(plgpu::Kernel& kernel, const Loc& loc) {
  profile.end(*this);
  meet_before_copies();
  record_end();
  record_entry();
  slots.settle();
  assemble();
  fill_launch(kernel, loc);
  kernel.name = function().name;
  kernel.module = std::move(module());
}

}  // namespace palladion::frontend
