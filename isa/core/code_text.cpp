#include "isa/core/code_text.h"

#include <fmt/format.h>

namespace palladion::isa {

std::string code_name(int number) { return fmt::format("PLD{:04}", number); }
std::string CodeNumber::name() const { return known() ? code_name(number_) : std::string(); }

}  // namespace palladion::isa
