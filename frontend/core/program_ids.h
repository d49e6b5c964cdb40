#pragma once
// Where a program is in its grid, when that is not the mesh's grid: pl::program_id and
// pl::num_programs answer with these while they are set.
#include <vector>

#include "frontend/core/scalar.h"

namespace palladion::frontend {

struct ProgramIds {
  std::vector<pl::Scalar> ids;
  std::vector<int64_t> sizes;
};

// nullptr: the mesh's own.
const ProgramIds* program_ids();

class WithProgramIds {
 public:
  explicit WithProgramIds(ProgramIds ids);
  ~WithProgramIds();
  WithProgramIds(const WithProgramIds&) = delete;
  WithProgramIds& operator=(const WithProgramIds&) = delete;

 private:
  ProgramIds ids_;
  const ProgramIds* saved_;
};

}  // namespace palladion::frontend
