#include "frontend/core/regions.h"

#include <algorithm>
#include <atomic>

namespace palladion::frontend {

namespace {
std::atomic<uint32_t> recordings = 0;
}  // namespace

Regions::Regions() : serial_(++recordings) {}

void Regions::open(std::string_view verb, const Loc& loc, bool allocates) {
  open_.push_back(static_cast<uint32_t>(regions_.size()));
  regions_.push_back({verb, loc, allocates});
  current_scope = id_of(open_.back());
  if (!allocates) current_region = current_scope;
}

void Regions::close() {
  regions_[open_.back()].open = false;
  open_.pop_back();
  const auto values =
      std::ranges::find_if(open_.rbegin(), open_.rend(), [&](uint32_t i) { return !regions_[i].allocates; });
  current_region = id_of(*values);
  current_scope = id_of(open_.back());
}

}  // namespace palladion::frontend
