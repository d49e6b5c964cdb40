#pragma once
// PTX types as the tensor core's element types.
#include <optional>

#include "isa/core/types.h"
#include "sim/numerics/tensor_core_types.h"

namespace palladion::sim {

inline std::optional<numerics::tc::Element> element_of(isa::Type t) {
  using E = numerics::tc::Element;
  switch (t) {
    case isa::Type::f16:
      return E::f16;
    case isa::Type::bf16:
      return E::bf16;
    case isa::Type::tf32:
      return E::tf32;
    case isa::Type::e4m3:
      return E::e4m3;
    case isa::Type::e5m2:
      return E::e5m2;
    case isa::Type::e2m3:
      return E::e2m3;
    case isa::Type::e3m2:
      return E::e3m2;
    case isa::Type::e2m1:
      return E::e2m1;
    case isa::Type::s8:
      return E::s8;
    case isa::Type::u8:
      return E::u8;
    case isa::Type::s4:
      return E::s4;
    case isa::Type::u4:
      return E::u4;
    case isa::Type::b1:
      return E::b1;
    case isa::Type::f64:
      return E::f64;
    default:
      return std::nullopt;
  }
}

}  // namespace palladion::sim
