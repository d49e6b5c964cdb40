#pragma once
// Names of C++ in PTX, as their author wrote them.
#include <string>
#include <string_view>

namespace palladion::isa {

// `_ZN2ns1kIiEEvPT_` is `ns::k<int>`: without result and parameters; arguments of templates that are longer
// than a line are `...`. Any other symbol is unchanged.
std::string readable_name(std::string_view symbol);

}  // namespace palladion::isa
