#pragma once
// Types of the tensor core as names of tests: "e4m3_e5m2_f16".
#include <ostream>
#include <string>

#include "sim/numerics/tensor_core_types.h"

namespace palladion::sim::numerics::tc {

inline std::string types_text(Element a, Element b, Result d) {
  constexpr const char* elements[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2",
                                      "e2m1", "s8",   "u8",   "s4",   "u4",   "b1",   "f64"};
  constexpr const char* results[] = {"f32", "f16", "s32", "f64"};
  return std::string(elements[static_cast<int>(a)]) + "_" + elements[static_cast<int>(b)] + "_" +
         results[static_cast<int>(d)];
}

}  // namespace palladion::sim::numerics::tc
