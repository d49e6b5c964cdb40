// A file of kernels as a shared object, compiled when it or what it includes has changed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isa/host/outcome.h"
#include "isa/host/process.h"

namespace palladion::cli {

// Objects are kept by content in the cache (cli/support/cache.h); each is complete when it has its name, so
// that concurrent programs and a Ctrl-C leave no half of one. The compiler's messages go to standard error;
// the error then is a user's.
Outcome<std::filesystem::path> compiled_object(const std::filesystem::path& source);

// The same, where another runs the compiler: in limits, or to keep its messages. The file that `command`
// writes is `output`. Our own header is precompiled as ever.
using RunCompiler =
    std::function<Ended(const std::vector<std::string>& command, const std::filesystem::path& output)>;
Outcome<std::filesystem::path> compiled_object(const std::filesystem::path& source, const RunCompiler& run);

}  // namespace palladion::cli
