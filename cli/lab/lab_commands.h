// The subcommands of `palladion lab`.
#pragma once

#include <string>
#include <vector>

#include "cli/support/exit_code.h"

namespace palladion::cli {

struct LabRequest {
  std::vector<std::string> args;  // behind the subcommand
  std::string json, report;       // files; empty: none
  unsigned seconds = 60;          // check, grade: limit of a submission
  bool unconfined = false;        // check, grade: also where the kernel does not confine enough
  unsigned threads = 0;           // of the host; 0: all
};

Outcome<ExitCode> lab_list();
Outcome<ExitCode> lab_start(const LabRequest& request);
Outcome<ExitCode> lab_check(const LabRequest& request);
Outcome<ExitCode> lab_hint(const LabRequest& request);
Outcome<ExitCode> lab_solution(const LabRequest& request);
Outcome<ExitCode> lab_progress();
Outcome<ExitCode> lab_reset(const LabRequest& request);
// For teachers: the starter, the solution and every wrong answer as files: LAB [DIR].
Outcome<ExitCode> lab_variants(const LabRequest& request);
// For teachers: a folder of all labs without their solutions, and a syllabus: DIR.
Outcome<ExitCode> lab_pack(const LabRequest& request);

// A folder of submissions (grade.cpp).
Outcome<ExitCode> lab_grade(const LabRequest& request);
// What the process of one submission does: ORDERS FILE LAB PROGRAM (judge.cpp).
Outcome<ExitCode> lab_judge(LabRequest request);

}  // namespace palladion::cli
