#include "isa/host/program_start.h"

namespace palladion::host {

namespace fs = std::filesystem;

namespace {
const fs::file_time_type program_start = fs::file_time_type::clock::now();
}

bool is_written_since_start(const fs::path& file) {
  std::error_code none;
  const fs::file_time_type written = fs::last_write_time(file, none);
  return !none && written > program_start;
}

}  // namespace palladion::host
