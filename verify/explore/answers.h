#pragma once
// Requests to cancel launches (clusterlaunchcontrol) get other answers in other schedules: are all of them
// known?
#include "verify/schedules/schedules.h"

namespace palladion::verify {

// Runs the launch with shorter and longer sequences of answers. Empty: what was found holds for all answers;
// else why it does not. `usual`: the first trial. `take` receives the runs.
std::string other_answers(const TrialSetup& setup, const Trial& usual, const TakeTrial& take);

}  // namespace palladion::verify
