// A file of kernels as a shared object, compiled when it or what it includes has changed.
#pragma once

#include <filesystem>

#include "cli/support/outcome.h"

namespace palladion::cli {

// Objects are kept by content in the cache (cli/support/cache.h); each is complete when it has its name, so
// that concurrent programs and a Ctrl-C leave no half of one. The compiler's messages go to standard error;
// the error then is a user's.
Outcome<std::filesystem::path> compiled_object(const std::filesystem::path& source);

}  // namespace palladion::cli
