#include "traces/model.h"

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

// FNV-1a.
uint64_t track_id(std::string_view place) {
  uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : place) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3ULL;
  return hash == 0 ? 1 : hash;
}

}  // namespace palladion::traces
