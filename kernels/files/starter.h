// The files of a project with one kernel, for `palladion new`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace palladion::kernels {

struct StarterFile {
  std::string name, text;
};

// Of a project and a kernel called `name`, an identifier.
std::vector<StarterFile> starter_files(std::string_view name);

}  // namespace palladion::kernels
