#include "frontend/core/refused.h"

#include <fmt/format.h>

#include "frontend/core/recorder.h"

namespace palladion::frontend {

void refuse(const Refused& word) {
  unsupported(fmt::format("{}: {}", word.name(), word.reason()), word.instead());
}

void refuse(const Refused& word, const std::source_location& loc) {
  const VerbScope at(loc);
  refuse(word);
}

}  // namespace palladion::frontend
