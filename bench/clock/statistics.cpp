#include "bench/clock/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace palladion::bench {
namespace {

// Linear between neighbours; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (size_t place = 0; place < order.size(); ++place) rank[order[place]] = static_cast<double>(place);
  return rank;
}

}  // namespace

ErrorSummary summarize(std::vector<double> errors) {
  if (errors.empty()) return {};
  for (double& e : errors) e = std::abs(e);
  std::ranges::sort(errors);
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return {static_cast<int>(errors.size()), sum / static_cast<double>(errors.size()), quantile(errors, 0.5),
          quantile(errors, 0.95), errors.back()};
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  if (a.size() < 2) return 1;
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  double squares = 0;
  for (size_t i = 0; i < ra.size(); ++i) squares += (ra[i] - rb[i]) * (ra[i] - rb[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

}  // namespace palladion::bench
