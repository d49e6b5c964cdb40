// A file of kernels as a shared object, compiled when it or what it includes has changed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isa/host/outcome.h"
#include "isa/host/process.h"

namespace palladion::kernels {

// Runs the compiler: in limits, or to keep its messages. The file that `command` writes is `output`.
using RunCompiler =
    std::function<host::Ended(const std::vector<std::string>& command, const std::filesystem::path& output)>;
// Gets a line when something takes long: our own header is precompiled, once for a compiler.
using Note = std::function<void(const std::string& line)>;

struct Compilation {
  RunCompiler run = {};  // of the file, not of our own header; none: its messages go to standard error
  std::filesystem::path folder = {};  // where `run` writes; none: the cache
  Note note = {};
};

// Objects are kept by content in the cache (isa/host/cache.h); each is complete when it has its name, so that
// concurrent programs and a Ctrl-C leave no half of one. One whose checksum is another is made again, with a
// note. What was compiled with a `run` is not taken for a compilation without. The error of a file that does
// not compile is a user's.
host::Outcome<std::filesystem::path> compiled_object(const std::filesystem::path& source,
                                                     const Compilation& settings = {});

}  // namespace palladion::kernels
