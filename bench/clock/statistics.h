// Errors of a set of cases.
#pragma once

#include <vector>

namespace palladion::bench {

// Of absolute relative errors.
struct ErrorSummary {
  int cases = 0;
  double mean = 0, median = 0, p95 = 0, worst = 0;
};
ErrorSummary summarize(std::vector<double> errors);

// (simulated - device) / device
inline double relative_error(double simulated, double device) { return (simulated - device) / device; }

// Spearman's coefficient: 1 when both put the cases into the same order.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace palladion::bench
