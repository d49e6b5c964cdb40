// The end of a recording: what a kernel does at its entry and before it ends, and the body as a whole.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/meetings.h"
#include "frontend/core/profile.h"
#include "frontend/core/recorder.h"

namespace palladion::frontend {

void Recorder::record_barrier_inits() {
  if (barrier_inits.empty()) return;
  const Operand base = barrier_base();
  const Operand first = pure("setp.eq.s32", {tid(), Operand::imm(0)}, Type::pred);
  for (const auto& init : barrier_inits) {
    const BarrierInit b = init();
    for (int64_t i = 0; i < b.count; ++i) {
      emit("mbarrier.init.shared::cta.b64",
           {Operand::address(base, b.offset + 8 * i), Operand::imm(b.arrivals)}, first);
    }
  }
  emit("fence.mbarrier_init.release.cluster", {}, first);
}

// Before the threads of the CTA meet: its first warp allocates.
void Recorder::record_tensor_allocation() {
  if (tensor_ctas_ == 0) return;
  const Operand first_warp = pure("setp.lt.s32", {tid(), Operand::imm(warp_threads)}, Type::pred);
  const std::string group = fmt::format(".cta_group::{}.sync.aligned", tensor_ctas_);
  emit("tcgen05.alloc" + group + ".shared::cta.b32",
       {Operand::address(barrier_base(), tensor_slot_), Operand::imm(tensor_columns())}, first_warp);
  emit("tcgen05.relinquish_alloc_permit" + group, {}, first_warp);
}

void Recorder::record_entry() {
  const bool cluster = mesh_.cluster_size() > 1;
  if (barrier_inits.empty() && tensor_ctas_ == 0 && !cluster) return;
  in_prologue([&] {
    record_barrier_inits();
    record_tensor_allocation();
    if (cluster) {
      emit("barrier.cluster.arrive.release.aligned", {});
      emit("barrier.cluster.wait.acquire.aligned", {});
    } else {
      emit("bar.sync", {Operand::imm(0)});
    }
    if (tensor_base_.is(Operand::Kind::reg))
      emit("ld.shared.b32", {tensor_base_, Operand::address(barrier_base(), tensor_slot_)});
  });
}

// Behind the last use of the tensor memory by any warp.
void Recorder::record_tensor_release() {
  if (tensor_ctas_ == 0) return;
  emit("tcgen05.fence::after_thread_sync", {});
  const Operand first_warp = pure("setp.lt.s32", {tid(), Operand::imm(warp_threads)}, Type::pred);
  emit(fmt::format("tcgen05.dealloc.cta_group::{}.sync.aligned.b32", tensor_ctas_),
       {tensor_base(), Operand::imm(tensor_columns())}, first_warp);
}

void Recorder::record_end() {
  if (tensor_ctas_ != 0) {
    // The columns are freed behind the barrier: no load or store may be under way.
    emit("tcgen05.wait::ld.sync.aligned", {});
    emit("tcgen05.wait::st.sync.aligned", {});
    emit("tcgen05.fence::before_thread_sync", {});
  }
  if (mesh_.cluster_size() > 1) {
    // A CTA must not end while others still arrive at its barriers or write into its memory.
    emit("barrier.cluster.arrive.release.aligned", {});
    emit("barrier.cluster.wait.acquire.aligned", {});
  } else if (tensor_ctas_ != 0) {
    emit("bar.sync", {Operand::imm(0)});
  }
  record_tensor_release();
  emit("ret", {});
}

void Recorder::waits_for(const void* barrier) {
  barrier_uses_.push_back({function_->body.size(), barrier, false});
}

void Recorder::begins_copy(const void* barrier) {
  // Warp-level code: a warp's copies follow its own waits, which all its lanes execute together.
  if (warp) return;
  barrier_uses_.push_back({function_->body.size(), barrier, true});
}

void Recorder::meet_before_copies() {
  std::vector<isa::Instruction>& body = function_->body;
  if (barrier_uses_.empty()) return;
  Meetings meetings({module_, *function_, arch()}, barrier_uses_,
                    {thread_index_, elected_, options_.auto_barriers});
  for (int64_t thread = 0; thread < thread_count(); ++thread) meetings.follow(thread);
  for (size_t i = 0; i < body.size(); ++i) {
    if (!meetings.needed()[i]) continue;
    const isa::Origin origin = body[i].origin;
    warpgroup_barrier();
    meetings_.emplace_back(i, std::move(body.back()));
    meetings_.back().second.origin = origin;
    body.pop_back();
  }
}

void Recorder::assemble_body() {
  std::ranges::stable_sort(insertions_, {}, [](const auto& p) { return p.first; });
  std::vector<isa::Instruction>& body = function_->body;
  std::vector<uint32_t> moved(body.size() + 1);
  std::vector<isa::Instruction> out = std::move(prologue_);
  out.reserve(out.size() + body.size() + 16);
  auto next = insertions_.begin();
  auto meeting = meetings_.begin();
  for (size_t i = 0; i < body.size(); ++i) {
    moved[i] = static_cast<uint32_t>(out.size());
    for (; meeting != meetings_.end() && meeting->first == i; ++meeting)
      out.push_back(std::move(meeting->second));
    out.push_back(std::move(body[i]));
    for (; next != insertions_.end() && next->first == i; ++next) {
      for (auto& instruction : next->second) out.push_back(std::move(instruction));
    }
  }
  moved[body.size()] = static_cast<uint32_t>(out.size());
  for (isa::Label& label : function_->labels) {
    if (label.target != isa::no_id) label.target = moved[label.target];
  }
  body = std::move(out);
}

void Recorder::fill_launch(plgpu::Kernel& kernel, const Loc& loc) {
  const int64_t barrier_offset = pl::align_to(smem_high_, 16);
  const int64_t bytes = smem_symbol_ == isa::no_id ? 0 : barrier_offset + barriers_ * 8;
  if (bytes > arch().max_shared_bytes_per_cta) {
    fail(Code::too_much_smem,
         fmt::format(
             "the kernel exceeds the available shared memory: {} bytes are allocated, {} are available",
             bytes, arch().max_shared_bytes_per_cta),
         loc, "use fewer pipeline stages or smaller tiles; every SMEM array is aligned to 1024 bytes");
  }
  if (const int64_t size = static_cast<int64_t>(isa::param_layout(module_, *function_).size);
      size > arch().max_parameter_bytes)
    fail(Code::bad_type,
         fmt::format("the parameters of the kernel take {} bytes, {} are possible", size,
                     arch().max_parameter_bytes),
         loc, "a pointer takes 8 bytes, a tensor map 128: use fewer arrays, or slices of one");
  kernel.launch.entry = function_->name;
  kernel.launch.dynamic_smem_bytes = static_cast<uint32_t>(bytes);
  kernel.launch.params = params_;
  kernel.launch.programmatic_serialization = uses_dependency_wait;
  if (profile)
    kernel.launch.profile = {options_.profile_space, static_cast<uint32_t>(thread_count()), profile->scopes};
}

void Recorder::finish(plgpu::Kernel& kernel, const Loc& loc) {
  end_profile(*this);
  meet_before_copies();
  record_end();
  record_entry();
  if (barrier_base_.is(Operand::Kind::reg)) {
    for (isa::Instruction& i : prologue_) {
      if (!i.operands.empty() && i.operands[0] == barrier_base_) {
        i.operands[2] = Operand::imm(pl::align_to(smem_high_, 16));
      }
    }
  }
  assemble_body();
  place_names();
  fill_launch(kernel, loc);
  kernel.name = function_->name;
  // `function_` points into the deque, whose elements stay where they are when it is moved.
  kernel.module = std::move(module_);
}

}  // namespace palladion::frontend
