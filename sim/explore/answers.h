#pragma once
// Do runs with some answers of clusterlaunchcontrol show what all answers do? docs/concepts/all_schedules.md.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/explore/conditions.h"
#include "sim/explore/work_dependence.h"

namespace palladion::sim::check {

struct Answers {
  uint32_t cancels = 0;  // launches that a cluster can cancel
  bool descending = false;
};
// "functional,resident=1,order=descending,cancels=3"
Conditions conditions_of(const Answers& answers);

// Runs of a grid of `clusters` in which clusters do the work of 1, 2, ... all clusters, each of them first
// and not first. One cluster is resident at a time: the others have not started and can be cancelled.
std::vector<Answers> all_answers(uint32_t clusters);

class AnswerProof {
 public:
  explicit AnswerProof(uint64_t clusters) : clusters_(clusters) {}

  // A run whose phases are forced, and which depends on no data.
  void add(const WorkScope& run);
  // Why other sequences of answers may do something else; empty: none does.
  std::string missing() const;

 private:
  uint64_t clusters_;
  std::string obstacle_;
  std::set<uint64_t> lengths_;
  std::map<uint32_t, std::set<uint64_t>> places_, facts_;  // by the number of a cluster
  std::map<uint64_t, std::set<uint32_t>> ways_;            // the clusters whose work was done in that way
};

}  // namespace palladion::sim::check
