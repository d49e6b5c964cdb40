#pragma once
// Letters of the text timeline.
#include <string>
#include <string_view>

#include "traces/model.h"

namespace palladion::traces {

struct Letter {
  char letter;
  std::string_view meaning;
};
// Of a warp's stall reason, an mbarrier's parity or a stage's state, by its name.
Letter letter_of(TrackKind kind, std::string_view state);
// Of a share of time, 0..1.
char shade(double share);
// Of a mean number of things at once.
char digit(double count);

}  // namespace palladion::traces
