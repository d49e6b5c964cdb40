// Rules that a compiler does not see: which folder may include which, where a README belongs, how long a
// file, a function and a README may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/rooms.h"

namespace {

namespace fs = std::filesystem;

const fs::path root = PLD_SOURCE_DIR;

// What an installed header may use beyond the standard library: palladionConfig.cmake finds only these.
const std::set<std::string> public_third_party = {"fmt", "tl"};

struct Include {
  std::string file;  // relative to the root
  size_t line;
  std::string path;
  bool quoted;
};

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }

// The folder of `arrows` that a file lies in, the innermost; its first part where there is none.
std::string room_of(const std::string& path) {
  for (size_t end = path.rfind('/'); end != std::string::npos && end != 0; end = path.rfind('/', end - 1))
    if (arrows.contains(path.substr(0, end))) return path.substr(0, end);
  return first_part(path);
}

// Every file below the source folders, relative to the root, in a fixed order.
std::vector<std::string> all_files() {
  std::vector<std::string> files;
  std::set<std::string> folders = rooms_that_see_all;
  for (const auto& [folder, allowed] : arrows) folders.insert(first_part(folder));
  folders.insert("cmake");
  for (const auto& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Include> includes_of(const std::string& file) {
  std::vector<Include> includes;
  std::ifstream in(root / file);
  std::string text;
  for (size_t line = 1; std::getline(in, text); ++line) {
    const size_t hash = text.find_first_not_of(" \t");
    if (hash == std::string::npos || text[hash] != '#') continue;
    const size_t word = text.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || text.compare(word, 7, "include") != 0) continue;
    const size_t open = text.find_first_of("\"<", word);
    if (open == std::string::npos) continue;
    const size_t close = text.find_first_of("\">", open + 1);
    if (close == std::string::npos) continue;
    includes.push_back({file, line, text.substr(open + 1, close - open - 1), text[open] == '"'});
  }
  return includes;
}

std::vector<Include> all_includes() {
  std::vector<Include> includes;
  for (const auto& file : all_files()) {
    if (!is_source(file)) continue;
    for (auto& include : includes_of(file)) includes.push_back(std::move(include));
  }
  return includes;
}

bool is_installed_header(const std::string& file) {
  static const std::set<std::string> kept_back = {"labs", "report", "python",
                                                  "cuda/driver"};  // their headers are not installed
  return fs::path(file).extension() == ".h" && arrows.contains(room_of(file)) &&
         !kept_back.contains(first_part(file)) && !kept_back.contains(room_of(file));
}

TEST(layering, folders_include_only_what_the_design_allows) {
  size_t seen = 0;
  for (const auto& include : all_includes()) {
    const auto from = arrows.find(room_of(include.file));
    const std::string to = room_of(include.path);
    const bool ours = include.quoted && (arrows.contains(to) || rooms_that_see_all.contains(to));
    if (from == arrows.end() || !ours) continue;
    ++seen;
    if (to != from->first && !from->second.contains(to)) {
      ADD_FAILURE_AT(include.file.c_str(), int(include.line))
          << from->first << "/ must not include " << to << "/: " << include.path;
    }
  }
  EXPECT_GT(seen, 10u) << "hardly any include was found: is the test looking in the right place?";
}

std::string folder_of(const std::string& file) { return fs::path(file).parent_path().generic_string(); }

// Where a sub-folder stands in `levels`; -1: not there.
int level_of(const std::string& folder) {
  for (size_t i = 0; i < levels.size(); ++i)
    if (std::find(levels[i].begin(), levels[i].end(), folder) != levels[i].end()) return int(i);
  return -1;
}

TEST(layering, no_include_runs_upward_between_sub_folders) {
  size_t seen = 0;
  for (const auto& include : all_includes()) {
    const std::string from = folder_of(include.file), to = folder_of(include.path);
    const int low = level_of(to), high = level_of(from);
    if (!include.quoted || from == to || low < 0 || high < 0) continue;
    ++seen;
    if (low >= high) {
      ADD_FAILURE_AT(include.file.c_str(), int(include.line))
          << from << "/ stands below " << to << "/, or beside it: " << include.path;
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(layering, machine_does_not_know_its_checkers) {
  for (const auto& include : all_includes()) {
    const std::string& file = include.file;
    const bool observer =
        file.starts_with("sim/check/") || file.starts_with("sim/explore/") || file.starts_with("sim/mutate/");
    if (file.starts_with("sim/") && !observer && include.path.starts_with("sim/check/")) {
      ADD_FAILURE_AT(file.c_str(), int(include.line))
          << "checkers observe, they are not called: " << include.path;
    }
  }
}

TEST(layering, every_sub_folder_has_its_level) {
  const std::set<std::string> levelled = {"isa", "frontend", "sim", "verify", "report", "cli", "kernels"};
  for (const auto& file : all_files()) {
    const std::string folder = folder_of(file);
    if (!is_source(file) || !levelled.contains(first_part(file)) || folder == "isa" || folder == "frontend")
      continue;
    EXPECT_GE(level_of(folder), 0) << folder << " is missing in `levels`";
  }
}

TEST(layering, quoted_includes_are_written_from_the_root) {
  for (const auto& include : all_includes()) {
    const bool consumer = include.file.starts_with("tests/consumer/");
    if (include.quoted && !consumer && !fs::exists(root / include.path)) {
      ADD_FAILURE_AT(include.file.c_str(), int(include.line))
          << "no such file from the root: " << include.path;
    }
  }
}

TEST(layering, installed_headers_need_no_more_than_the_package_finds) {
  for (const auto& include : all_includes()) {
    const bool third_party = !include.quoted && include.path.find('/') != std::string::npos &&
                             first_part(include.path) != "sys" && first_part(include.path) != "experimental";
    if (is_installed_header(include.file) && third_party &&
        !public_third_party.contains(first_part(include.path))) {
      ADD_FAILURE_AT(include.file.c_str(), int(include.line))
          << "private dependency in a public header: " << include.path;
    }
  }
}

TEST(layering, headers_are_guarded) {
  for (const auto& file : all_files()) {
    if (fs::path(file).extension() != ".h" || file.starts_with("cmake/pch/")) continue;  // included by flags
    std::ifstream in(root / file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(text.find("#pragma once"), std::string::npos) << file;
  }
}

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(root / file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// First lines of the functions of more than `max_lines`. As clang-format lays it out, a function ends with a
// brace alone in column 0 (2 in a class), and begins in the last line above that begins in this column. A
// body that is one list is a table.
std::vector<std::string> functions_over(const std::string& file, size_t max_lines) {
  static const std::regex control("(if|for|while|switch|do|else)\\b.*");
  std::vector<std::string> found;
  const std::vector<std::string> lines = lines_of(file);
  for (const size_t column : {size_t{0}, size_t{2}}) {
    size_t begin = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find_first_not_of(' ') != column) continue;
      if (std::isalnum(static_cast<unsigned char>(lines[i][column])) != 0) begin = i;
      if (lines[i] != std::string(column, ' ') + "}" || i + 1 - begin <= max_lines) continue;
      const std::string first = lines[begin].substr(column);
      const bool is_function = first.find('(') != std::string::npos && !std::regex_match(first, control);
      const bool is_table = lines[begin + 1].ends_with("= {") || lines[begin + 1].ends_with("return {");
      if (is_function && !is_table) found.push_back(first);
    }
  }
  return found;
}

std::set<std::string> over_the_limits() {
  constexpr size_t max_lines_of_file = 400, max_lines_of_function = 60, max_lines_of_readme = 60;
  std::set<std::string> over;
  for (const auto& file : all_files()) {
    const auto extension = fs::path(file).extension();
    const bool is_code = is_source(file) || extension == ".cu" || extension == ".cmake";
    const bool is_readme = file.ends_with("/README.md");
    if (!is_code && !is_readme) continue;
    if (lines_of(file).size() > (is_readme ? max_lines_of_readme : max_lines_of_file)) over.insert(file);
    if (!is_source(file)) continue;
    for (const std::string& function : functions_over(file, max_lines_of_function))
      over.insert(file + ": " + function);
  }
  return over;
}

TEST(layering, files_functions_and_readmes_stay_readable) {
  std::set<std::string> listed;
  for (const std::string& line : lines_of("tests/layering/over_the_limits.txt"))
    if (!line.empty() && !line.starts_with('#')) listed.insert(line);
  const std::set<std::string> over = over_the_limits();
  for (const std::string& name : over)
    EXPECT_TRUE(listed.contains(name))
        << name << " is too long: split it by meaning (tables of data belong in .inc, manuals in docs)";
  for (const std::string& name : listed)
    EXPECT_TRUE(over.contains(name)) << name << " is short enough: strike it from over_the_limits.txt";
}

TEST(layering, every_folder_says_what_it_is_for) {
  std::set<std::string> folders;
  for (const auto& file : all_files()) {
    if (is_source(file)) folders.insert(fs::path(file).parent_path().generic_string());
  }
  for (const auto& folder : folders) {
    // A test folder that mirrors another needs no words of its own, nor one that its parent's README covers.
    const bool mirror = folder.starts_with("tests/") && fs::is_directory(root / folder.substr(6));
    if (mirror || folder == "cmake/pch") continue;
    const auto readme = root / folder / "README.md";
    EXPECT_TRUE(fs::exists(readme) && fs::file_size(readme) > 80) << folder << " lacks a README.md";
  }
}

// `words` in back quotes that name a file (by its extension) or a folder of ours (by its first part or a
// final slash). Patterns and placeholders (`cmd_*.cpp`, `NAME.h`) name none.
std::vector<std::string> paths_named_in(const fs::path& readme) {
  static const std::regex quoted("`([a-zA-Z0-9_][a-zA-Z0-9_./-]*)`"),
      file("\\.(h|cpp|md|cmake|csv|clock|py|sh)$"), placeholder("(^|[^A-Z])(NAME|FILE|KERNEL)");
  std::ifstream in(readme);
  std::vector<std::string> paths;
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) code = !code;
    if (code) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), quoted), end; at != end; ++at) {
      const std::string word = (*at)[1];
      const bool folder = word.ends_with('/') ||
                          (word.find('/') != std::string::npos && fs::is_directory(root / first_part(word)));
      if ((folder || std::regex_search(word, file)) && !std::regex_search(word, placeholder) &&
          !word.starts_with("build/"))
        paths.push_back(word);
    }
  }
  return paths;
}

// From the root, from the README's folder, or a bare name anywhere below that folder.
bool exists_for(const fs::path& folder, const std::string& path) {
  for (const fs::path& from : {root, folder})
    for (const char* extension : {"", ".h", ".cpp"})
      if (fs::exists(from / (path + extension))) return true;
  if (path.find('/') != std::string::npos) return false;
  // labs/05-parity/README.md goes into the learner's folder, beside parity.cpp.
  if (fs::exists(folder / "kernel.cc") &&
      folder.filename().string().ends_with("-" + fs::path(path).stem().string()))
    return true;
  return std::ranges::any_of(fs::recursive_directory_iterator(folder),
                             [&](const auto& entry) { return entry.path().filename() == path; });
}

TEST(layering, every_path_in_a_readme_exists) {
  std::vector<std::string> readmes = {"README.md"};
  for (const auto& file : all_files())
    if (file.ends_with("/README.md")) readmes.push_back(file);
  size_t seen = 0;
  for (const auto& readme : readmes) {
    for (const std::string& path : paths_named_in(root / readme)) {
      ++seen;
      EXPECT_TRUE(exists_for((root / readme).parent_path(), path)) << readme << " names " << path;
    }
  }
  EXPECT_GT(seen, 100U);
}

}  // namespace
