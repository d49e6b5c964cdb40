#include "labs/engine/submissions.h"

#include <algorithm>
#include <tuple>

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;

Submission submission_of(const fs::path& file, const fs::path& root, const Lab& lab) {
  const bool named_as_lab = file.stem() == lab.name;
  const fs::path below = file.lexically_relative(root).parent_path();  // of a link, where it lies
  std::string student = named_as_lab ? below.string() : file.stem().string();
  if (student.empty() || student == ".") student = "-";
  return {file, &lab, std::move(student)};
}

}  // namespace

const Lab* lab_of_file(const fs::path& file) {
  if (file.extension() != ".cpp") return nullptr;
  const Lab* lab = find_lab(file.stem().string());
  if (lab != nullptr && lab->name == file.stem()) return lab;
  std::error_code none;
  return find_lab(fs::absolute(file, none).parent_path().filename().string());
}

Submissions submissions_in(const fs::path& root) {
  Submissions out;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(root, none)) {
    if (entry.is_directory(none) || entry.path().extension() != ".cpp") continue;
    if (const Lab* lab = lab_of_file(entry.path()))
      out.all.push_back(submission_of(entry.path(), root, *lab));
    else
      out.others.push_back(entry.path());
  }
  std::ranges::sort(out.all, {},
                    [](const Submission& s) { return std::tuple(s.student, s.lab->folder, s.file); });
  std::ranges::sort(out.others);
  return out;
}

}  // namespace palladion::labs
