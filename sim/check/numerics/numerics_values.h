#pragma once
// Infinities and NaNs in registers and memory, by type.
#include <cstddef>
#include <cstdint>

#include "isa/core/types.h"

namespace palladion::sim::check {

struct Special {
  bool nan = false, infinite = false;
  bool any() const { return nan || infinite; }
  Special& operator|=(const Special& o) {
    nan |= o.nan;
    infinite |= o.infinite;
    return *this;
  }
};

// Bytes of one number of a float type; of f16x2 and bf16x2 those of one of the two. 0: no float type.
uint32_t number_bytes(isa::Type type);
// One number, in its bytes.
Special special(isa::Type type, const uint8_t* number);
double value(isa::Type type, const uint8_t* number);
// All numbers in a run of bytes.
Special special_in(isa::Type type, const uint8_t* bytes, size_t count);
// Fast: true when a run of numbers has a NaN, or for f16 (whose range is small) an infinity.
bool suspicious(isa::Type type, const uint8_t* bytes, size_t count);

}  // namespace palladion::sim::check
