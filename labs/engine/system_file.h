// Files by which Linux is told settings of processes and groups: /proc, cgroup.
#pragma once

#include <string>
#include <string_view>

namespace palladion::labs {

// Whether all of `text` was taken in one write. `folder`: an open one, or AT_FDCWD for an absolute name.
bool write_to(int folder, const std::string& file, std::string_view text);

}  // namespace palladion::labs
