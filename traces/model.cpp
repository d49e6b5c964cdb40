#include "traces/model.h"

#include "isa/core/hash.h"

namespace palladion::traces {

std::string_view name(TimeUnit unit) {
  return unit == TimeUnit::sm_cycles ? "SM cycles" : "warp instructions";
}

std::string_view name(Category category) {
  constexpr std::string_view names[category_count] = {"life", "issue",   "stall", "event",
                                                      "copy", "tensor",  "phase", "filling",
                                                      "full", "reading", "free",  "scope"};
  return names[static_cast<size_t>(category)];
}

std::string_view name(TrackKind kind) {
  constexpr std::string_view names[] = {"process",     "sm",        "cta",   "role",     "warp", "tma",
                                        "tensor_core", "in_flight", "group", "mbarrier", "stage"};
  return names[static_cast<size_t>(kind)];
}

uint64_t track_id(std::string_view place) {
  const uint64_t hash = isa::Fnv1a().add(place).value();
  return hash == 0 ? 1 : hash;
}

}  // namespace palladion::traces
