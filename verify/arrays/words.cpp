#include "verify/arrays/words.h"

#include <algorithm>

namespace palladion {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t best_distance =
      std::min(std::max<size_t>(1, word.size() / 3) + 1, word.size());  // never a wholly different word
  for (const std::string& k : known) {
    const bool starts = !word.empty() && k.starts_with(word);
    const size_t distance = starts ? 1 : edit_distance(word, k);
    if (distance >= best_distance) continue;
    best = &k;
    best_distance = distance;
  }
  return best == nullptr ? "" : *best;
}

}  // namespace palladion
