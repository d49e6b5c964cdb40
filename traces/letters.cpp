#include "traces/letters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/launch/clock.h"

namespace palladion::traces {
namespace {

// By sim::Stall.
constexpr std::string_view stall_letters = "#nwslpiqtxobcfmgavrzd";
static_assert(stall_letters.size() == sim::stall_count);

}  // namespace

Letter letter_of(TrackKind kind, std::string_view state) {
  if (kind == TrackKind::mbarrier) return {state.ends_with('1') ? '1' : '0', {}};
  if (kind == TrackKind::stage) {
    constexpr std::array<std::pair<std::string_view, Letter>, 4> letters = {
        {{"filling", {'>', "stage is filled"}},
         {"full", {'=', "full, not read yet"}},
         {"reading", {'<', "is read"}},
         {"free", {'.', "free until it is filled again"}}}};
    for (const auto& [name, letter] : letters)
      if (name == state) return letter;
  }
  for (size_t i = 1; i < sim::stall_count; ++i)
    if (sim::name(static_cast<sim::Stall>(i)) == state)
      return {stall_letters[i], sim::name(static_cast<sim::Stall>(i))};
  return {'#', "executes"};
}

char shade(double share) { return " .:+##"[std::min(4, static_cast<int>(std::ceil(share * 4)))]; }

char digit(double count) {
  if (count < 0.05) return ' ';
  if (count < 0.5) return '.';
  return count > 9.5 ? '+' : static_cast<char>('0' + std::lround(count));
}

}  // namespace palladion::traces
