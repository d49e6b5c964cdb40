#include "cli/support/exit_code.h"

namespace palladion::cli {

ExitCode exit_code_of(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::mistake:
      return exit_user_error;
    case Failure::Kind::unsupported:
      return exit_unsupported;
    case Failure::Kind::not_written:
      return exit_not_written;
    case Failure::Kind::interrupted:
      return exit_interrupted;
  }
  return exit_internal;
}

}  // namespace palladion::cli
