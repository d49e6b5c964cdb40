// Compilers that programs start or call, under `palladion exec`.
#include <fstream>
#include <iterator>

#include "tests/cuda/driver/exec_program.h"

namespace {

using namespace palladion::cuda::driver;

std::string contents_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ExecCompilers : public Exec {
 protected:
  void SetUp() override {
    Exec::SetUp();
    if (!std::filesystem::exists(driver_folder + "/ptxas")) GTEST_SKIP() << "NOT TESTED: ptxas is not built";
  }
};

// Every way to start a program: what answers is ours, whatever path was asked.
TEST_F(ExecCompilers, WhoeverStartsPtxasStartsOurs) {
  const std::string spawner = program("spawner"), out = program("spawned");
  ASSERT_EQ(std::system(("c++ -o " + spawner + " " + source("programs/spawner.cpp")).c_str()), 0);
  for (const char* way : {"execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "posix_spawn",
                          "posix_spawnp", "vfork", "system", "popen"})
    for (const char* path : {"/nowhere/bin/ptxas", "/nowhere/ptxas-blackwell", "ptxas"}) {
      EXPECT_EQ(execute("", spawner + " " + way + " " + path + " > " + out + " 2> /dev/null"), 0)
          << way << path;
      EXPECT_NE(contents_of(out).find("Palladion's stand-in"), std::string::npos) << way << " " << path;
    }
  EXPECT_EQ(execute("", spawner + " execvp echo > " + out + " 2> /dev/null"), 0);
  EXPECT_FALSE(contents_of(out).empty());
  EXPECT_EQ(contents_of(out).find("Palladion"), std::string::npos) << "other programs are as they were";
}

TEST_F(ExecCompilers, FindsPtxasWhereThereIsNone) {
  const std::string out = program("found");
  ::setenv("PATH", "/usr/bin:/bin", 1);
  EXPECT_EQ(execute("", "sh -c 'ptxas --version' > " + out + " 2> /dev/null"), 0);
  EXPECT_NE(contents_of(out).find("Palladion's stand-in"), std::string::npos);
}

// nvcc makes machine code for any chip: its tools are its own. What it makes carries its PTX.
TEST_F(ExecCompilers, NvccKeepsItsTools) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "NOT TESTED: no nvcc on this host";
  const std::string made = program("made");
  for (const char* how : {"", "-rdc=true ", "-G "}) {
    EXPECT_EQ(execute("", std::string("nvcc ") + how + "-gencode arch=compute_90a,code=sm_90a -o " + made +
                              " " + source("programs/at_exit.cu") + " 2> /dev/null"),
              0)
        << how;
    EXPECT_EQ(execute("", made), 0) << how;
  }
}

// Machine code from libraries that the program opens by itself; a finding shows a line that is in no file.
TEST_F(ExecCompilers, LibrariesOpenedByTheProgramGiveCodeThatRuns) {
  const std::string compiles = program("compiles"), said = program("compiles_said");
  ASSERT_EQ(std::system(("c++ -I" + toolkit() + "/include -o " + compiles + " " +
                         source("programs/compiles.cpp") + " -L" + toolkit() + "/lib64/stubs -lcuda")
                            .c_str()),
            0);
  const std::string run = "env LD_LIBRARY_PATH=" + driver_folder + ":" + toolkit() + "/lib64 " + compiles;
  if (!std::filesystem::exists(toolkit() + "/lib64/libnvrtc.so.13") ||
      !std::filesystem::exists(toolkit() + "/lib64/libnvJitLink.so.13"))
    GTEST_SKIP() << "NOT TESTED: no NVRTC or nvJitLink 13 in the toolkit";
  for (const char* how : {" nvrtc", " nvjitlink"}) EXPECT_EQ(execute("--check all", run + how), 0) << how;
  EXPECT_NE(execute("--check race", run + " race 2> " + said), 3);
  EXPECT_NE(contents_of(said).find("in_no_file.cu:3"), std::string::npos) << contents_of(said);
  EXPECT_NE(contents_of(said).find("3 | p[0] = old;  // every thread"), std::string::npos)
      << contents_of(said);
}

// Of a library that a program contains ours are called.
TEST_F(ExecCompilers, ThePtxCompilerWithinAProgramGivesCodeThatRuns) {
  const std::string made = program("ptx_compiler"), said = program("ptx_compiler_said");
  ASSERT_EQ(std::system(("c++ -O1 -I" + toolkit() + "/include -o " + made + " " +
                         source("programs/ptx_compiler.cpp") + " -L" + toolkit() + "/lib64/stubs -lcuda")
                            .c_str()),
            0);
  const std::string run = "env LD_LIBRARY_PATH=" + driver_folder + " " + made;
  EXPECT_EQ(execute("", run + " > " + said), 0) << contents_of(said);
  EXPECT_EQ(execute("", run + " wrong > " + said), 0);
  EXPECT_EQ(contents_of(said).find("3 ptxas application ptx input, line 4; error   : "), 0U)
      << contents_of(said);
}

}  // namespace
