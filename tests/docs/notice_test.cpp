// NOTICE names everything of others that the programs contain, as their link lines and includes state it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace palladion::docs {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Libraries of the system in the link lines of what is installed: "tbb", "zstd".
std::set<std::string> linked_libraries() {
  const std::regex statement("build (lib)?(palladion|exec/)[^:]*: CXX_(EXECUTABLE|SHARED_LIBRARY)_LINKER");
  const std::regex library("(/[^ ]*)/lib([A-Za-z0-9_+-]+)\\.(a|so[.0-9]*)( |$)");
  std::ifstream in(fs::path(PLD_BINARY_DIR) / "build.ninja");
  std::set<std::string> found;
  bool is_ours = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("build ")) is_ours = std::regex_search(line, statement);
    if (!is_ours || line.find("LINK_LIBRARIES = ") == std::string::npos) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), library), end; at != end; ++at)
      if (!(*at)[1].str().starts_with(PLD_BINARY_DIR)) found.insert((*at)[2]);
  }
  return found;
}

// Folders of headers of others, which a program may contain without a library: "fmt", "CLI".
std::set<std::string> included_folders() {
  const std::set<std::string> of_the_system = {"sys", "linux", "asm"};
  const std::regex include("#include <([A-Za-z0-9_]+)/");
  std::set<std::string> found;
  for (const char* const folder :
       {"isa", "frontend", "sim", "report", "cuda", "traces", "verify", "kernels", "labs", "cli"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PLD_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at)
        if (const std::string name = (*at)[1]; !of_the_system.contains(name) && name != "palladion" &&
                                               !fs::exists(fs::path(PLD_SOURCE_DIR) / name))
          found.insert(name);
    }
  return found;
}

TEST(Notice, NamesWhatTheProgramsContain) {
  const std::string notice = text_of(fs::path(PLD_SOURCE_DIR) / "NOTICE");
  const std::map<std::string, std::string> projects = {{"CLI", "CLI11"},
                                                       {"tl", "tl::expected"},
                                                       {"boost", "Boost"},
                                                       {"tbb", "oneTBB"},
                                                       {"fmt", "fmt (https"},
                                                       {"Eigen", "Eigen"},
                                                       {"unsupported", "FFT of Eigen"}};
  const auto libraries = linked_libraries(), folders = included_folders();
  if (!fs::exists(fs::path(PLD_BINARY_DIR) / "build.ninja"))
    GTEST_SKIP() << "link lines are read of Ninja's file";
  EXPECT_GE(libraries.size(), 4U) << "tbb, zstd and two of Boost at least";
  EXPECT_GE(folders.size(), 4U);
  for (const std::string& name : libraries)
    EXPECT_NE(notice.find("lib" + name), std::string::npos) << "NOTICE lacks lib" << name;
  for (const std::string& name : folders) {
    ASSERT_TRUE(projects.contains(name)) << "which project is <" << name << "/...>?";
    EXPECT_NE(notice.find(projects.at(name)), std::string::npos) << "NOTICE lacks " << projects.at(name);
  }
}

}  // namespace
}  // namespace palladion::docs
