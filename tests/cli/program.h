#pragma once
// The built program as scripts see it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/toolkit.h"

namespace palladion::cli {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Ran {
  int status = -1;
  std::string out, err;
};

class Program : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program())) GTEST_SKIP() << program() << " is not built";
  }

  static std::string program() { return std::string(PLD_BINARY_DIR) + "/palladion"; }
  static std::string ptx(std::string_view name) {
    return std::string(PLD_SOURCE_DIR) + "/tests/cli/ptx/" + std::string(name) + ".ptx";
  }
  std::string file(std::string_view name) const { return (folder_.path() / name).string(); }

  // In the sources' folder, so that messages name files the same on every machine.
  Ran run(const std::string& arguments) const {
    const std::string err = file("stderr");
    const std::string command =
        "cd " PLD_SOURCE_DIR " && NO_COLOR=1 " + program() + " " + arguments + " 2>" + err + " </dev/null";
    Ran ran;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) ran.out.append(buffer, got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
    ran.err = read(err);
    return ran;
  }

  std::string saxpy(const std::string& more = "") const {
    return "run --ptx tests/cli/ptx/saxpy.ptx --grid 4 --block 256 --arg u32:1000 --arg f32:2 --arg "
           "in:f32[1000]=iota --arg "
           "'inout:f32[1000]=const(1)' " +
           more;
  }

  toolkit::TemporaryFolder folder_;
};

}  // namespace palladion::cli
