#pragma once
// The outputs of a launch against those that are wanted.
#include <string>
#include <vector>

#include "verify/launch/job.h"

namespace palladion::verify {

// One output against what it should be.
struct OutputComparison {
  std::string output;                // its name
  pl::DType dtype = pl::DType::f32;  // of its elements
  Tolerance tolerance;               // that was allowed
  Comparison comparison;             // element by element
  std::string note;                  // the first difference in other words; lines
};
// Both in the order of the job's outputs.
std::vector<OutputComparison> compare_outputs(const Job& job, const std::vector<Array>& got,
                                              const std::vector<Array>& wanted, Tolerance tolerance = {});

}  // namespace palladion::verify
