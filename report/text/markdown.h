// Markdown of the labs, as a terminal shows it.
#pragma once

#include <string>
#include <string_view>

namespace palladion::report {

// Headings bold, code in backquotes coloured; lines stay as they are.
std::string paragraphs(std::string_view markdown, bool color);

}  // namespace palladion::report
