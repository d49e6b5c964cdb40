#include "labs/engine/system_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace palladion::labs {

bool write_to(int folder, const std::string& file, std::string_view text) {
  const int to = ::openat(folder, file.c_str(), O_WRONLY | O_CLOEXEC);
  if (to < 0) return false;
  const bool written = ::write(to, text.data(), text.size()) == ssize_t(text.size());
  ::close(to);
  return written;
}

}  // namespace palladion::labs
