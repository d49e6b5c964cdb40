#include "cli/support/program_name.h"

namespace palladion::cli {
namespace {

std::string own_name = "palladion";

}  // namespace

void set_program_name(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.empty()) own_name = file;
}

const std::string& program_name() { return own_name; }

}  // namespace palladion::cli
