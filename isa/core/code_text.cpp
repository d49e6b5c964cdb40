#include "isa/core/code_text.h"

#include <fmt/format.h>

namespace palladion::isa {

std::string CodeNumber::name() const { return fmt::format("PLD{:04}", number_); }

}  // namespace palladion::isa
