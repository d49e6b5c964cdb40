#pragma once
// On what the judgement of a kernel's launches rests.
#include <string>
#include <vector>

#include "verify/verdict/findings.h"

namespace palladion::cuda::driver {

struct Judged {
  size_t tried = 1;                           // schedules that ran
  bool decided = false;                       // for all schedules, by one run or by the search
  bool outputs_vary = false;                  // between them
  bool waited = false;                        // for what is outside of the kernel: it cannot run again
  std::vector<verify::SeenFinding> findings;  // of other schedules than the program's

  // Those of another launch of the kernel: what holds for both.
  void unite(const Judged& other);
};
// The findings of the program's own schedule, with those of others.
std::vector<verify::SeenFinding> with_others(const std::vector<sim::Finding>& own,
                                             const std::string& schedule, const Judged& judged);
// "decided for all schedules", "3 schedules tried, their outputs differ"
std::string text_of(const Judged& judged);

}  // namespace palladion::cuda::driver
