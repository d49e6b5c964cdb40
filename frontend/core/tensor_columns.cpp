#include "frontend/core/tensor_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/recorder.h"
#include "frontend/core/types.h"

namespace palladion::frontend {

Operand TensorColumns::base() {
  if (!base_.is(Operand::Kind::reg)) base_ = emitter_.reg(Type::b32);
  return base_;
}

int64_t TensorColumns::allocate(int64_t columns, int ctas) {
  if (ctas_ == 0) slot_ = slots_.allocate(1);
  ctas_ = ctas;
  const int64_t at = top_;
  top_ += columns;
  high_ = std::max(high_, top_);
  return at;
}

int64_t TensorColumns::columns() const { return std::max(unit_, pl::next_power_of_2(high_)); }

Operand TensorColumns::first_warp(const Operand& tid) {
  return emitter_.pure("setp.lt.s32", {tid, Operand::imm(warp_threads)}, Type::pred);
}

void TensorColumns::record_allocation(const Operand& tid) {
  if (ctas_ == 0) return;
  const Operand guard = first_warp(tid);
  const std::string group = fmt::format(".cta_group::{}.sync.aligned", ctas_);
  emitter_.emit("tcgen05.alloc" + group + ".shared::cta.b32",
                {Operand::address(slots_.base(), slot_), Operand::imm(columns())}, guard);
  emitter_.emit("tcgen05.relinquish_alloc_permit" + group, {}, guard);
}

void TensorColumns::record_address() {
  if (base_.is(Operand::Kind::reg))
    emitter_.emit("ld.shared.b32", {base_, Operand::address(slots_.base(), slot_)});
}

void TensorColumns::record_waits() {
  if (ctas_ == 0) return;
  emitter_.emit("tcgen05.wait::ld.sync.aligned", {});
  emitter_.emit("tcgen05.wait::st.sync.aligned", {});
  emitter_.emit("tcgen05.fence::before_thread_sync", {});
}

void TensorColumns::record_release(const Operand& tid) {
  if (ctas_ == 0) return;
  emitter_.emit("tcgen05.fence::after_thread_sync", {});
  const Operand guard = first_warp(tid);
  emitter_.emit(fmt::format("tcgen05.dealloc.cta_group::{}.sync.aligned.b32", ctas_),
                {base(), Operand::imm(columns())}, guard);
}

}  // namespace palladion::frontend
