#include "labs/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <labs/lab_files.h>  // made by cmake/LabFiles.cmake of labs/*/

#include "verify/arrays/words.h"

namespace palladion::labs {

std::string text_of(const Values& values) {
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : ",") + name + "=" + value;
  return out;
}

pl::ShapeDtype ArrayRule::type(const Values& values) const {
  pl::ShapeDtype out{dtype, {}};
  for (const std::string& dim : shape) {
    const auto known = values.find(dim);
    const auto number = number_in<int64_t>(known == values.end() ? dim : known->second);
    if (!number) throw std::runtime_error(fmt::format("array {}: `{}` is no size of the case", name, dim));
    out.shape.push_back(*number);
  }
  return out;
}

double Measure::share(double value) const {
  if (permits(value)) return 1;
  if (!from) return 0;
  const double goal = *from > high ? high : low;
  return std::clamp((value - *from) / (goal - *from), 0.0, 1.0);
}

bool Question::accepts(std::string_view answer) const {
  const auto number = number_in<double>(answer);
  return std::ranges::any_of(accepted, [&](const std::string& one) {
    const size_t dots = one.find("..");
    if (dots == std::string::npos) return one == answer;
    const auto low = number_in<double>(one.substr(0, dots)), high = number_in<double>(one.substr(dots + 2));
    return number && low && high && *low <= *number && *number <= *high;
  });
}

namespace {

// Whether a line with this tag ("solution late", "not starter") is in the variant.
bool is_in(std::string_view tag, std::string_view variant) {
  std::vector<std::string_view> names;
  for (const std::string_view word : split(tag, " "))
    if (!word.empty()) names.push_back(word);
  const bool except = !names.empty() && names.front() == "not";
  return std::ranges::count(names, variant) != 0 ? !except : except;
}

}  // namespace

std::string Lab::variant(std::string_view wanted) const {
  constexpr std::string_view mark = "//! ";
  std::string out;
  for (std::string_view line : split(source, "\n")) {
    if (const size_t at = line.find(mark); at != std::string_view::npos) {
      if (!is_in(line.substr(at + mark.size()), wanted)) continue;
      line = line.substr(0, line.find_last_not_of(' ', at == 0 ? 0 : at - 1) + 1);
    }
    out += line;
    out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(fmt::format("{} cannot be read", file.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

// Labs that a teacher has in a folder; their texts stay for the program's life.
std::vector<Lab> labs_in(const fs::path& folder) {
  static std::deque<std::string> texts;
  const auto keep = [](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (fs::exists(entry.path() / "rules.txt", none)) folders.push_back(entry.path());
  if (folders.empty())
    throw std::runtime_error(fmt::format("PALLADION_LABS={} has no labs", folder.string()));
  std::ranges::sort(folders);
  std::vector<Lab> labs;
  for (const fs::path& one : folders)
    labs.push_back(parse_lab({keep(one.filename().string()), keep(text_of_file(one / "README.md")),
                              keep(text_of_file(one / "rules.txt")), keep(text_of_file(one / "kernel.cc"))}));
  return labs;
}

}  // namespace

std::span<const Lab> all_labs() {
  static const std::vector<Lab> labs = [] {
    const char* const folder = std::getenv("PALLADION_LABS");
    if (folder != nullptr && *folder != 0) return labs_in(folder);
    std::vector<Lab> all;
    for (const LabFiles& files : lab_files) all.push_back(parse_lab(files));
    return all;
  }();
  return labs;
}

const Lab* find_lab(std::string_view word) {
  for (const Lab& lab : all_labs()) {
    const std::string number = number_of(lab);
    if (word == lab.name || word == lab.folder || word == number ||
        (number[0] == '0' && word == number.substr(1)))
      return &lab;
  }
  return nullptr;
}

std::string number_of(const Lab& lab) { return lab.folder.substr(0, lab.folder.find('-')); }

}  // namespace palladion::labs
