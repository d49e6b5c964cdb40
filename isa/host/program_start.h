// When this program began.
#pragma once

#include <filesystem>

namespace palladion::host {

// Whether the file was written after this program began: its lines may be others than those that were
// compiled.
bool is_written_since_start(const std::filesystem::path& file);

}  // namespace palladion::host
