#include "sim/check/order/meetings.h"

#include <variant>

namespace palladion::sim::check {
namespace {

template <class... E>
bool is_one_of(const isa::Effect& effect) {
  return (std::holds_alternative<E>(effect) || ...);
}

}  // namespace

bool lanes_meet(const isa::Effect& effect) {
  return is_one_of<isa::Shuffle, isa::Vote, isa::Match, isa::Redux, isa::Elect, isa::WgmmaFence,
                   isa::WgmmaWait>(effect);
}

}  // namespace palladion::sim::check
