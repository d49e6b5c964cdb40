// Where the program keeps what it may compute again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "isa/host/files.h"

namespace palladion::host {

// $XDG_CACHE_HOME/palladion/NAME, else ~/.cache/palladion/NAME, else palladion-USER/NAME in the temporary
// folder; made where it is missing. It belongs to this user and nobody else may write there: the error says
// which folder is not so.
Result<std::filesystem::path> private_cache(std::string_view name);

// A text that differs when another file is at this path: its real path, size and date.
std::string identity_of(const std::filesystem::path& file);

// What is kept of a file that has its checksum beside it, in FILE.sum. `whole`: it belongs to this user,
// nobody else may write it, and it has the checksum's bytes. `absent`: one of the two is not there.
enum class Kept { absent, damaged, whole };
Kept state_of_kept(const std::filesystem::path& file);
// Writes the checksum of a file, whose contents reach the disk first.
Result<void> seal(const std::filesystem::path& file);

}  // namespace palladion::host
