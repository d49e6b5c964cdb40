// Where a file lies.
#pragma once

#include <span>
#include <string>

namespace palladion::host {

// Whether a file lies in one of the folders, or below it, links resolved. An empty folder is the current one.
bool lies_below(const std::string& file, std::span<const std::string> folders);

}  // namespace palladion::host
