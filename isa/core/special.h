#pragma once
// Names of special registers (PTX, "Special Registers").
#include <optional>
#include <string>
#include <string_view>

#include "isa/core/types.h"

namespace palladion::isa {

struct SpecialName {
  Special special;
  int index = -1;  // of %envreg3, %pm3 and %pm3_64
};

std::optional<SpecialName> special_named(std::string_view s);  // "tid", without '%' and component
std::string_view name(Special s);                              // "tid"
bool is_vector(Special s);                                     // has .x .y .z .w
Type type_of(Special s);

}  // namespace palladion::isa
