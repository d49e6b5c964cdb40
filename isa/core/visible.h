#pragma once
// Bytes of files and of names in messages: a terminal and a JSON reader get text, whatever they are.
#include <string>
#include <string_view>

namespace palladion::isa {

// Valid UTF-8: every byte that is not part of a character becomes `\xff`, its value in four characters.
std::string valid_utf8(std::string_view bytes);

// The same, and control characters are shown as `\x1b` too, except newlines and tabs. With `colour`,
// sequences that choose a colour (ESC [ digits m) stay.
std::string visible(std::string_view bytes, bool colour = false);

// A line of a source as it is quoted: one column a byte where it is ASCII, `?` for what cannot be shown, at
// most `width` columns around the byte `column` (from 1). `column` becomes that of the text returned.
std::string excerpt(std::string_view line, size_t& column, size_t width = 200);

}  // namespace palladion::isa
