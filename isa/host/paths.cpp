#include "isa/host/paths.h"

#include <algorithm>
#include <filesystem>

namespace palladion::host {

bool lies_below(const std::string& file, std::span<const std::string> folders) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path real = fs::weakly_canonical(file, none);
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    const fs::path below = real.lexically_relative(fs::canonical(folder.empty() ? "." : folder, none));
    return !below.empty() && *below.begin() != "..";
  });
}

}  // namespace palladion::host
