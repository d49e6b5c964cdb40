#pragma once
// Runs ptxas and nvcc where there are any; tests that need them are skipped, loudly, where there are none.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace palladion::isa::toolkit {

inline std::string find(const std::string& tool) {
  const char* home = std::getenv("CUDA_HOME");
  const std::string beside = std::string(home != nullptr ? home : "/usr/local/cuda") + "/bin/" + tool;
  if (std::filesystem::exists(beside)) return beside;
  const char* path = std::getenv("PATH");
  for (std::string rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t end = rest.find(':');
    const std::string candidate = rest.substr(0, end) + "/" + tool;
    if (std::filesystem::exists(candidate)) return candidate;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return {};
}

struct Output {
  int status = 0;
  std::string text;
};

inline Output run(const std::string& command) {
  Output out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.text.append(buffer, n);
  out.status = pclose(pipe);
  return out;
}

// A file in the build directory that no other test of this process or another has.
inline std::filesystem::path scratch(const std::string& name) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder =
      std::filesystem::path(PLD_BINARY_DIR) / "test_scratch" / info->test_suite_name() / info->name();
  std::filesystem::create_directories(folder);
  return folder / name;
}

inline Output assemble(const std::string& ptxas, const std::string& text, const std::string& arch,
                       const std::string& name = "module") {
  const auto source = scratch(name + ".ptx");
  std::ofstream(source) << text;
  return run(ptxas + " -c -arch=" + arch + " -O0 " + source.string() + " -o " +
             scratch(name + ".cubin").string());
}

// The newest PTX that it takes, 90 for 9.0: CUDA 13.0 began with that, and each release has one more.
inline uint32_t newest_ptx(const std::string& ptxas) {
  const std::string text = run(ptxas + " --version").text, mark = "release ";
  const size_t at = text.find(mark);
  if (at == std::string::npos) return 0;
  const size_t dot = text.find('.', at);
  const auto number = [&](size_t from) { return static_cast<uint32_t>(std::stoul(text.substr(from))); };
  constexpr uint32_t before_9 = 4;  // CUDA 13 is PTX 9
  return (number(at + mark.size()) - before_9) * 10 + number(dot + 1);
}

}  // namespace palladion::isa::toolkit

#define PLD_NEED_TOOL(path)                       \
  if ((path).empty()) {                           \
    GTEST_SKIP() << "the CUDA toolkit is absent"; \
  }
