#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "isa/host/files.h"
#include "kernels/files/starter.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

// A name for a target of CMake, an entry of PTX and files.
bool names_project(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto follows = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  constexpr size_t longest = 64;
  return !name.empty() && name.size() <= longest && is_letter(name[0]) && std::ranges::all_of(name, follows);
}

// Of CMake, or of main.
bool is_reserved(std::string_view name) {
  constexpr std::string_view words[] = {"test", "all",     "install", "clean",
                                        "help", "package", "main",    "check"};
  return std::ranges::find(words, name) != std::end(words);
}

struct NewRequest {
  std::string name;
};

struct WordsOfNew {
  std::vector<std::string> names;

  void state(Words& words) { words.texts("NAME", names, "of the project, its folder and its kernel"); }
  Outcome<NewRequest> request(const Invocation&) const {
    if (names.size() == 1) return NewRequest{names.front()};
    return user_error(fmt::format("`{} new` takes the name of a project", program_name()),
                      fmt::format("{} new my_kernel", program_name()));
  }
};

Outcome<ExitCode> write_project(const NewRequest& request) {
  const std::string& name = request.name;
  if (!names_project(name) || is_reserved(name))
    return user_error(fmt::format("`{}` cannot name a project", name),
                      "small letters, digits and _, at most 64, a letter first; no target of CMake's own");
  std::error_code failed;
  if (fs::exists(name, failed)) return user_error(fmt::format("`{}` exists", name), "take another name");
  if (!fs::create_directory(name, failed))
    return user_error(fmt::format("the folder {} cannot be made: {}", name, failed.message()));
  for (const kernels::StarterFile& file : kernels::starter_files(name)) {
    const fs::path path = fs::path(name) / file.name;
    if (const auto written = write_text(path, file.text); !written) return user_error(written.error());
    print_out("wrote {}\n", path.string());
  }
  print_out("try   {0} run {1}/{1}.cpp\n", program_name(), name);
  return exit_clean;
}

}  // namespace

Command new_command() {
  return {"new", "write a project with a kernel of your own, for example my_kernel",
          stated<WordsOfNew, write_project>};
}

}  // namespace palladion::cli
