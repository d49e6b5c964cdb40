// The subcommands of `palladion lab`.
#pragma once

#include <filesystem>

#include "cli/options/options.h"
#include "cli/support/outcome.h"
#include "labs/lab.h"

namespace palladion::cli {

Outcome<ExitCode> lab_list();
Outcome<ExitCode> lab_start(const Options& options);
Outcome<ExitCode> lab_check(const Options& options);
Outcome<ExitCode> lab_hint(const Options& options);
Outcome<ExitCode> lab_solution(const Options& options);
Outcome<ExitCode> lab_progress();
Outcome<ExitCode> lab_reset(const Options& options);
// For teachers: the starter, the solution and every wrong answer as files: LAB [DIR].
Outcome<ExitCode> lab_variants(const Options& options);

// A folder of submissions (grade.cpp).
Outcome<ExitCode> lab_grade(const Options& options);
// What the process of one submission does: FILE LAB JSON.
Outcome<ExitCode> lab_grade_one(const Options& options);

// The lab that this file is of: by its name, or by its folder's.
const labs::Lab* lab_of_file(const std::filesystem::path& file);

}  // namespace palladion::cli
