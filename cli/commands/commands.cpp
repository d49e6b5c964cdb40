#include "cli/commands/commands.h"

namespace palladion::cli {

Command list_command(), run_command(), sweep_command(), ptx_command(), check_command(), compare_command(),
    explain_command(), doctor_command(), lab_command(), new_command(), capture_command(), exec_command(),
    help_command(), completion_command();

std::span<const Command> commands() {
  static const Command all[] = {list_command(),  run_command(),       sweep_command(),   ptx_command(),
                                check_command(), compare_command(),   explain_command(), doctor_command(),
                                lab_command(),   new_command(),       capture_command(), exec_command(),
                                help_command(),  completion_command()};
  return all;
}

}  // namespace palladion::cli
