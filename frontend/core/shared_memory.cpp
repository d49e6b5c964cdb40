#include "frontend/core/shared_memory.h"

#include <algorithm>

#include "frontend/core/types.h"

namespace palladion::frontend {

Operand SharedMemory::base() {
  if (!used()) {
    isa::Variable v;
    v.space = isa::Space::shared_cta;
    v.type = Type::b8;
    v.align = 1024;
    v.dims = {0};
    symbol_ = emitter_.builder().add_variable("palladion_smem", std::move(v), true);
    emitter_.module().symbols[symbol_].linkage = isa::Linkage::extern_;
  }
  return emitter_.at_entry("mov.u32", {Operand::symbol(symbol_)}, Type::b32);
}

int64_t SharedMemory::allocate(int64_t bytes, int64_t align) {
  base();
  const int64_t at = pl::align_to(top_, align);
  top_ = at + bytes;
  high_ = std::max(high_, top_);
  return at;
}

void SharedMemory::name(isa::BufferName buffer) {
  buffer.symbol = symbol_;
  emitter_.module().buffers.push_back(std::move(buffer));
}

int64_t SharedMemory::end() const { return pl::align_to(high_, 16); }

Operand KernelSlots::base() {
  if (!base_.is(Operand::Kind::reg)) {
    const Operand arrays = smem_.base();
    emitter_.in_prologue([&] {
      base_ = emitter_.reg(Type::b32);
      emitter_.emit("add.s32", {base_, arrays, Operand::imm(0)});  // settle() writes the offset
      base_at_ = emitter_.last_instruction().index;
    });
  }
  return base_;
}

int64_t KernelSlots::allocate(int64_t count) {
  base();
  const int64_t at = count_;
  count_ += count;
  return at * 8;
}

void KernelSlots::name(isa::BufferName buffer) { names_.push_back(std::move(buffer)); }

int64_t KernelSlots::reduction_scratch(int64_t bytes, int64_t threads) {
  if (reduction_scratch_ < 0) {
    reduction_scratch_ = pl::align_to(allocate(pl::cdiv(bytes * threads, 8) + 1), 16);
    name({.offset = static_cast<uint64_t>(reduction_scratch_),
          .bytes = static_cast<uint64_t>(bytes * threads),
          .name = "reduction scratch",
          .element = "u8",
          .shape = {threads, bytes}});
  }
  return reduction_scratch_;
}

void KernelSlots::initialise(std::function<BarrierInit()> init) { inits_.push_back(std::move(init)); }

void KernelSlots::record_inits(const Operand& tid) {
  if (inits_.empty()) return;
  const Operand slots = base();
  const Operand first = emitter_.pure("setp.eq.s32", {tid, Operand::imm(0)}, Type::pred);
  for (const auto& init : inits_) {
    const BarrierInit b = init();
    for (int64_t i = 0; i < b.count; ++i)
      emitter_.emit("mbarrier.init.shared::cta.b64",
                    {Operand::address(slots, b.offset + 8 * i), Operand::imm(b.arrivals)}, first);
  }
  emitter_.emit("fence.mbarrier_init.release.cluster", {}, first);
}

void KernelSlots::settle() {
  if (!base_.is(Operand::Kind::reg)) return;
  emitter_.in_prologue([&] { emitter_.function().body[base_at_].operands[2] = Operand::imm(smem_.end()); });
  for (isa::BufferName& b : names_) {
    b.offset += static_cast<uint64_t>(smem_.end());
    smem_.name(std::move(b));
  }
}

}  // namespace palladion::frontend
