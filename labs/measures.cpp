#include "labs/measures.h"

#include <algorithm>
#include <iterator>

namespace palladion::labs {
namespace {

constexpr Quantity all_quantities[] = {
    {"cycles", "cycles", [](const sim::ClockReport& c) { return double(c.cycles); }},
    {"conflicts", "extra passes for bank conflicts",
     [](const sim::ClockReport& c) { return double(c.counters.smem_bank_conflicts); }},
    {"instructions", "warp instructions",
     [](const sim::ClockReport& c) { return double(c.counters.instructions); }},
    {"l2_read", "bytes read from L2",
     [](const sim::ClockReport& c) { return 32.0 * double(c.counters.l2_read_sectors); }},
    {"l2_write", "bytes written to L2",
     [](const sim::ClockReport& c) { return 32.0 * double(c.counters.l2_write_sectors); }},
    {"hbm_read", "bytes read from HBM",
     [](const sim::ClockReport& c) { return double(c.counters.dram_read_bytes); }},
};

}  // namespace

std::span<const Quantity> quantities() { return all_quantities; }

bool is_quantity(std::string_view name) {
  return std::ranges::any_of(all_quantities, [&](const Quantity& q) { return q.name == name; });
}

double measured(std::string_view quantity, const sim::ClockReport& clock) {
  return std::ranges::find(all_quantities, quantity, &Quantity::name)->of(clock);
}

}  // namespace palladion::labs
