#include "verify/launch/outputs.h"

#include <algorithm>

namespace palladion::verify {

std::vector<OutputComparison> compare_outputs(const Job& job, const std::vector<Array>& got,
                                              const std::vector<Array>& wanted, Tolerance tolerance) {
  std::vector<OutputComparison> out;
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    const size_t at = out.size();
    if (!job.is_output(i)) continue;
    if (at == std::min(got.size(), wanted.size())) break;
    out.push_back({job.buffers[i].name,
                   got[at].dtype(),
                   tolerance,
                   palladion::compare(got[at], wanted[at], tolerance),
                   {}});
  }
  return out;
}

}  // namespace palladion::verify
