// Where the two twins of a pair differ, for `palladion explain`.
#pragma once

#include <string>
#include <string_view>

#include "kernels/zoo/zoo.h"

namespace palladion::report {

struct TwinText {
  std::string wrong, right;  // lines of PTX; those of one twin alone begin with "> "
};

// The lines around each difference. Both are empty where the twins differ nearly everywhere, as recorded ones
// do with renumbered registers.
TwinText twin_text(const kernels::zoo::Pair& pair);

TwinText where_apart(std::string_view wrong, std::string_view right);

}  // namespace palladion::report
