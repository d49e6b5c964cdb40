#pragma once
// Files of learners, judged by the built program's confined processes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "labs/engine/recording.h"
#include "labs/engine/verdict.h"
#include "labs/lab.h"

namespace palladion {

inline std::filesystem::path written(const std::string& folder, const std::string& name,
                                     const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(PLD_BINARY_DIR) / "tests" / "labs" / folder;
  std::filesystem::create_directories(path);
  std::ofstream(path / name) << text;
  return path / name;
}

// The process that touches the file is the program's, not this test's.
inline auto judge(const labs::Lab& lab, const std::filesystem::path& file) {
  labs::set_confined_program(std::string(PLD_BINARY_DIR) + "/palladion");
  return labs::judge_file(lab, file, {.threads = 2});
}

}  // namespace palladion
