#pragma once
// Colour of a terminal.
#include <string>
#include <string_view>

namespace palladion::report {

enum class Style { plain, bold, dim, red, green, yellow, blue, cyan };

// `text` in `style` when `color`, else unchanged.
std::string paint(std::string_view text, Style style, bool color);

}  // namespace palladion::report
