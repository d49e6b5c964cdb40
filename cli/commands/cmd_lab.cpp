#include "cli/commands/commands.h"

namespace palladion::cli {

Outcome<ExitCode> cmd_lab(const Options&) {
  return not_in_this_version("`palladion lab`: there are no exercises yet, so it");
}

}  // namespace palladion::cli
