// The C++ compiler of this host, for files of kernels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isa/host/outcome.h"

namespace palladion::kernels {

struct Compiler {
  std::vector<std::string> command;  // "ccache", "g++"
  std::string identity;              // differs for another compiler at the same place
  std::string name;                  // "g++ 12.2.0"
  bool is_clang = false;
};

// $CXX, which may have arguments; without it g++, clang++ or c++, whichever is first on PATH and knows C++20.
// The error names all that were tried, and why not.
host::Outcome<Compiler> find_compiler();

// The program of this name: a path, or below a folder of PATH.
std::optional<std::filesystem::path> on_path(const std::string& name);

// The package's headers: beside the program in the build tree, or in ../include where it is installed.
struct Headers {
  std::filesystem::path include;  // has the folder palladion
  std::string identity;           // differs when a header differs
};
host::Outcome<Headers> find_headers();
// The folders and files below `include` that hold what a file of kernels may include.
std::vector<std::filesystem::path> header_places(const Headers& headers);

// The options with which every file of kernels is compiled, except inputs and outputs.
std::vector<std::string> compile_command(const Compiler& compiler, const Headers& headers);

}  // namespace palladion::kernels
