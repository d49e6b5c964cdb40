// Files of learners below a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "labs/lab.h"

namespace palladion::labs {

// The lab that this file is of: by its name, or by its folder's; null: of none.
const Lab* lab_of_file(const std::filesystem::path& file);

struct Submission {
  std::filesystem::path file;
  const Lab* lab;
  std::string student;  // "-": not named
};

struct Submissions {
  std::vector<Submission> all;                // by student, then by lab
  std::vector<std::filesystem::path> others;  // files of C++ that are of no lab
};

// STUDENT/parity.cpp, or parity/STUDENT.cpp, at any depth. Links are among them: a judge refuses them.
Submissions submissions_in(const std::filesystem::path& root);

}  // namespace palladion::labs
