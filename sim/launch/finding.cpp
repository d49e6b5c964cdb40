#include "sim/launch/finding.h"

namespace palladion::sim {

SourcePlace place_of(const Site& site) {
  return {.file = site.source.known() ? site.source.file : std::string(),
          .line = site.source.line,
          .ptx_line = site.ptx_line};
}

void add_reads(Finding& into, const Finding& from) {
  auto* const to = std::get_if<Race>(&into.what);
  const auto* const more = std::get_if<Race>(&from.what);
  if (to == nullptr || more == nullptr) return;
  to->every_read &= more->every_read && to->reads.size() + more->reads.size() <= Race::most_reads;
  if (to->every_read) to->reads.insert(to->reads.end(), more->reads.begin(), more->reads.end());
}

}  // namespace palladion::sim
