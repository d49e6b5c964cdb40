// Where the program keeps what it may compute again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace palladion::host {

// $XDG_CACHE_HOME/palladion/NAME, else ~/.cache/palladion/NAME; empty when neither variable is set.
std::filesystem::path cache_folder(std::string_view name);

// A text that differs when another file is at this path: its real path, size and date.
std::string identity_of(const std::filesystem::path& file);

}  // namespace palladion::host
