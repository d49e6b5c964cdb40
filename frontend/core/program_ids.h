#pragma once
// Where a program is: its CTA's place in the cluster, and its place in the grid when that is not the mesh's
// grid.
#include <string>
#include <vector>

#include "frontend/core/scalar.h"

namespace palladion::frontend {

// pl::program_id and pl::num_programs answer with these while they are set.
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

// The rank of this CTA in its cluster, as %cluster_ctarank gives it.
pl::Scalar cluster_rank();

// Whether the CTAs along this axis of the cluster are the pairs of `.cta_group::2`: its last one, of size 2.
bool is_pair_axis(const std::string& axis);

}  // namespace palladion::frontend
