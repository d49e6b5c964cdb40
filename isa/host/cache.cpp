#include "isa/host/cache.h"

#include <fmt/format.h>

#include <cstdlib>

namespace palladion::host {

namespace fs = std::filesystem;

fs::path cache_folder(std::string_view name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != 0) return fs::path(cache) / "palladion" / name;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != 0 ? fs::path(home) / ".cache" / "palladion" / name : fs::path();
}

std::string identity_of(const fs::path& file) {
  std::error_code none;
  const fs::path real = fs::canonical(file, none);
  return fmt::format("{} {} {}", real.string(), fs::file_size(real, none),
                     fs::last_write_time(real, none).time_since_epoch().count());
}

}  // namespace palladion::host
