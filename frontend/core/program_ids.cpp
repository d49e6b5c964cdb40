#include "frontend/core/program_ids.h"

#include "frontend/core/recorder.h"

namespace palladion::frontend {

namespace {
thread_local const ProgramIds* current = nullptr;
}  // namespace

const ProgramIds* program_ids() { return current; }

WithProgramIds::WithProgramIds(ProgramIds ids) : ids_(std::move(ids)), saved_(current) { current = &ids_; }
WithProgramIds::~WithProgramIds() { current = saved_; }

pl::Scalar cluster_rank() {
  pl::Scalar rank(0);
  for (const auto& axis : Recorder::current().mesh().cluster)
    rank = rank * axis.size + pl::axis_index(axis.name);
  return rank;
}

bool is_pair_axis(const std::string& axis) {
  const auto& cluster = Recorder::current().mesh().cluster;
  return !cluster.empty() && cluster.back().name == axis && cluster.back().size == 2;
}

}  // namespace palladion::frontend
