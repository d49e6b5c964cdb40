#include "verify/verdict/watch.h"

#include <utility>
#include <vector>

namespace palladion::verify {

Watch::Watch(const sim::check::Options& checks, std::span<sim::Observer* const> others) {
  std::vector<sim::Observer*> all;
  if (checks.any()) all.push_back(&checker_.emplace(checks));
  all.insert(all.end(), others.begin(), others.end());
  if (all.size() == 1) observer_ = all.front();
  if (all.size() > 1) observer_ = &several_.emplace(std::move(all));
}

}  // namespace palladion::verify
