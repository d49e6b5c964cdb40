#include "verify/arrays/words.h"

#include <algorithm>
#include <utility>

namespace palladion {
namespace {

// Letters that are put in, left out, replaced or exchanged with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<bool> boolean_in(std::string_view text) {
  for (const std::string_view word : {"true", "yes", "on", "1"})
    if (text == word) return true;
  for (const std::string_view word : {"false", "no", "off", "0"})
    if (text == word) return false;
  return std::nullopt;
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string> best;
  if (word.empty()) return best;
  size_t best_distance =
      std::min(std::max<size_t>(1, word.size() / 3), word.size() - 1);  // never a wholly different word
  for (const std::string& k : known) {
    const size_t distance = k.starts_with(word) ? 1 : edit_distance(word, k);
    if (distance > best_distance) continue;
    if (distance < best_distance) best.clear();
    best.push_back(k);
    best_distance = distance;
  }
  return best;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> best = nearest_words(word, known);
  return best.empty() ? "" : best.front();
}

}  // namespace palladion
