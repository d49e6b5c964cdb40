#pragma once
// Files that a test writes and reads back.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace palladion::traces::testing {

inline std::string temporary(const std::string& name) { return ::testing::TempDir() + name; }

inline std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace palladion::traces::testing
