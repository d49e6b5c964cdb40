// NVIDIA's toolkit as an oracle: ptxas assembles our PTX without a GPU, nvcc makes PTX for the machine.
// Neither is needed to build or run; a test that misses one says GTEST_SKIP, and ./dev test says so loudly.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::toolkit {

// In CUDA_HOME, on PATH, or where the toolkit's installer puts it.
inline std::optional<std::filesystem::path> find_tool(std::string_view name) {
  std::vector<std::filesystem::path> folders;
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::filesystem::path(home) / "bin");
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) folders.emplace_back(part);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const auto& folder : folders) {
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  }
  return std::nullopt;
}

struct Outcome {
  int status = -1;     // exit status; -1 if it did not start or was killed
  std::string output;  // stdout and stderr
  bool ok() const { return status == 0; }
};

inline Outcome run_command(const std::string& command) {
  Outcome outcome;
  std::FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "palladion_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Assembly {
  bool ok = false;
  std::string log;                // ptxas' own words
  int registers = 0;              // per thread, the largest of all entries
  int spill_bytes = 0;            // stores and loads of all entries
  bool wgmma_serialized = false;  // ptxas C7510 and its kin: correct, but slow
};

// The number before `unit` at each of its occurrences in ptxas -v's log.
inline std::vector<int> numbers_before(std::string_view log, std::string_view unit) {
  std::vector<int> numbers;
  for (size_t at = log.find(unit); at != std::string_view::npos; at = log.find(unit, at + 1)) {
    size_t start = at;
    while (start > 0 && log[start - 1] >= '0' && log[start - 1] <= '9') --start;
    if (start < at) numbers.push_back(std::atoi(std::string(log.substr(start, at - start)).c_str()));
  }
  return numbers;
}

// Call only when find_tool("ptxas") has an answer.
inline Assembly assemble(std::string_view ptx, std::string_view arch = "sm_90a",
                         std::string_view flags = "") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "kernel.ptx";
  std::ofstream(file, std::ios::binary) << ptx;
  const Outcome outcome = run_command(find_tool("ptxas").value().string() + " -v -arch=" + std::string(arch) +
                                      " " + std::string(flags) + " -o " +
                                      (folder.path() / "kernel.cubin").string() + " " + file.string());
  Assembly assembly{.ok = outcome.ok(), .log = outcome.output};
  for (const int count : numbers_before(assembly.log, " registers"))
    assembly.registers = std::max(assembly.registers, count);
  for (const int bytes : numbers_before(assembly.log, " bytes spill")) assembly.spill_bytes += bytes;
  assembly.wgmma_serialized =
      assembly.log.find("wgmma") != std::string::npos && assembly.log.find("serializ") != std::string::npos;
  return assembly;
}

}  // namespace palladion::toolkit

// First line of a test that needs a tool of the toolkit.
#define PLD_NEEDS_TOOL(name)                    \
  if (!::palladion::toolkit::find_tool(name)) { \
    GTEST_SKIP() << name << " is absent";       \
  }
