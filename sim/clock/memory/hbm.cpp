#include "sim/clock/memory/hbm.h"

#include <algorithm>
#include <utility>

#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {
namespace {
constexpr uint64_t page_lines = 1024 / line_bytes;
}

Cycles SharedRate::take(size_t port, Cycles time, Cycles cost) {
  size_t waiting = free_[port] > time ? 0 : 1;
  for (const Cycles f : free_) waiting += f > time ? 1 : 0;
  // No later than if all work were done in the order of its coming: nothing is idle while there is some.
  all_ = std::max(time, all_) + cost;
  return free_[port] = std::min(all_, std::max(time, free_[port]) + cost * static_cast<double>(waiting));
}

// Opening a page takes of the bus as much as some bytes do; `hbm.read` is the rate of those that read all of
// it.
Cycles Hbm::read(size_t cpc, Cycles time, uint64_t line, uint32_t bytes) {
  read_bytes_ += bytes;
  constexpr double page = page_lines * line_bytes;
  const double opening = open(line / page_lines) ? 0 : p_.hbm_page_open;
  return move(cpc, time, (bytes + opening) * page / (page + p_.hbm_page_open), false);
}

Cycles Hbm::write(size_t cpc, Cycles time, uint32_t bytes) {
  written_bytes_ += bytes;
  return move(cpc, time, bytes, true);
}

// Whether the page is among those that were read last; it is now.
bool Hbm::open(uint64_t page) {
  uint64_t& place = pages_[mixed(page) % pages_.size()];
  return std::exchange(place, page) == page;
}

void Hbm::rest() {
  bus_ = SharedRate(cpcs_);
  busy_ = 0;
  read_bytes_ = written_bytes_ = 0;
}

// The bus turns around between reads and writes: a mixture has a rate of its own.
Cycles Hbm::move(size_t cpc, Cycles time, double bytes, bool is_write) {
  write_share_ += ((is_write ? 1.0 : 0.0) - write_share_) / 512;
  const double pure = is_write ? p_.hbm_write : p_.hbm_read;
  const double even = 2 / (1 / p_.hbm_read + 1 / p_.hbm_write);
  const double mixture = 1 - (1 - std::min(1.0, p_.hbm_mixed / even)) * 4 * write_share_ * (1 - write_share_);
  const double cost = bytes * p_.sm_clock / (pure * mixture * 1000);
  busy_ += cost;
  return bus_.take(cpc, time, cost);
}

// Pages of HBM answer sooner or later, depending on their bank: as far apart for every page, whichever SM
// asks.
Cycles Hbm::page_latency(uint64_t line) const {
  const auto chance = static_cast<double>(mixed(line / page_lines + 0x51ED) >> 32 & 0xFFFF) / 65535;
  return p_.hbm_latency + p_.hbm_spread * (2 * chance - 1);
}

// Reads of many SMs get in each other's way in HBM's channels, long before its bus is full.
Cycles Hbm::congestion(Cycles time) {
  const double x = std::max(0.0, time - counted_at_) / std::max(1.0, p_.hbm_latency);
  under_way_ = under_way_ / (1 + x + x * x / 2) + 1;  // nearly e^-x, but the same on every host
  counted_at_ = std::max(counted_at_, time);
  return p_.hbm_loaded_latency * under_way_ / (under_way_ + p_.hbm_loaded_lines);
}

}  // namespace palladion::sim::hardware
