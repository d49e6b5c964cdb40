#include "sim/clock/sm/tensor_core.h"

#include <algorithm>

namespace palladion::sim::hardware {

// It is bound by its multiplications or by the operands that it reads from shared memory.
TensorCore::Served TensorCore::take(uint64_t warpgroup, const Product& x, Cycles now) {
  constexpr double row_bytes = 32;  // of k, for every type
  Served s;
  const double products = x.rows * x.columns * (row_bytes / 2) / p_->wgmma_macs_per_cycle;
  s.reads = ((x.a_in_registers ? 0 : x.rows) + x.columns) * row_bytes / p_->smem_bytes_per_cycle;
  s.cycles = std::max({products, s.reads, x.a_in_registers ? p_->wgmma_least_rs : 0}) + p_->wgmma_overhead;
  s.start = std::max(now + p_->wgmma_start, free_);
  s.end = free_ = s.start + s.cycles;
  port_share_ = s.reads / s.cycles;
  User& own = user(warpgroup);
  own.end = free_;
  own.alone = std::max(own.alone, now + p_->wgmma_start) + s.cycles;
  s.landed = s.start + products + (x.a_in_registers ? p_->wgmma_tail_rs : p_->wgmma_tail_ss);
  ends_[taken_++ % ends_.size()] = free_;
  return s;
}

TensorCore::Served TensorCore::run(const TensorMemoryWork& work, Cycles start) {
  Served s;
  s.start = start;
  s.reads = work.reads;
  s.cycles = std::max(work.cycles, work.reads);
  s.end = s.landed = free_ = s.start + s.cycles;
  port_share_ = s.cycles > 0 ? s.reads / s.cycles : 0;
  ends_[taken_++ % ends_.size()] = free_;
  return s;
}

Cycles TensorCore::opens() const {
  const double most = std::max(p_->wgmma_queue, p_->tcgen05_queue);  // a chip has one of the two
  const auto queue = std::min(static_cast<uint32_t>(most), static_cast<uint32_t>(ends_.size()));
  return taken_ < queue ? 0 : ends_[(taken_ - queue) % ends_.size()];
}

double TensorCore::port_left(Cycles time) const {
  return is_reading(time) ? std::max(1 / p_->smem_pass_beside_wgmma, 1 - port_share_) : 1;
}

TensorCore::User& TensorCore::user(uint64_t warpgroup) {
  const auto found = std::ranges::find(users_, warpgroup, &User::warpgroup);
  if (found != users_.end()) return *found;
  return *std::ranges::min_element(users_, {}, &User::end) = {.warpgroup = warpgroup};
}

Cycles TensorCore::sequences_open(uint64_t warpgroup, Cycles time) const {
  Cycles opens = 0;
  bool others = false;
  for (const User& u : users_) {
    if (u.warpgroup == warpgroup)
      opens = u.alone + p_->wgmma_co_issue_delay;
    else
      others |= u.end > time;
  }
  return others ? opens : 0;
}

}  // namespace palladion::sim::hardware
