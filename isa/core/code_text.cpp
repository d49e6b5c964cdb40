#include "isa/core/code_text.h"

#include <fmt/format.h>

namespace palladion::isa {

std::string code_name(int number) { return fmt::format("PLD{:04}", number); }
std::string CodeNumber::name() const { return code_name(number_); }

}  // namespace palladion::isa
