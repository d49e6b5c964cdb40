#pragma once
// Programs under `palladion exec`, compiled by the tests.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {

class Exec : public testing::Test {
 protected:
  void SetUp() override {
    if (toolkit().empty()) GTEST_SKIP() << "the CUDA toolkit is absent";
    if (!std::filesystem::exists(driver_folder + "/libpalladion_exec.so") ||
        !std::filesystem::exists(std::string(PLD_BINARY_DIR) + "/palladion"))
      GTEST_SKIP() << "NOT TESTED: palladion or its libpalladion_exec.so is not built";
  }
  static std::string source(const char* name) {
    return std::string(PLD_SOURCE_DIR) + "/tests/cuda/driver/" + name;
  }
  static std::string program(const char* name) { return testing::TempDir() + "/" + name; }
  static int execute(const std::string& options, const std::string& program_and_arguments) {
    const std::string command =
        std::string(PLD_BINARY_DIR) + "/palladion exec " + options + " -- " + program_and_arguments;
    return WEXITSTATUS(std::system(command.c_str()));
  }
};

class ExecRuntime : public Exec {
 protected:
  void SetUp() override {
    Exec::SetUp();
    if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is absent";
  }
  static std::string compiled(const std::string& flags, const char* name,
                              std::initializer_list<const char*> sources = {"programs/runtime.cu"},
                              const std::string& arch = "compute_90") {
    const std::string out = program(name);
    std::string command = "nvcc " + flags + " -gencode arch=" + arch + ",code=" + arch + " -o " + out;
    for (const char* const file : sources) command += " " + source(file);
    EXPECT_EQ(std::system(command.c_str()), 0);
    return out;
  }
};

}  // namespace palladion::cuda::driver
