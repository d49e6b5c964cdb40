#include "cli/support/output.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "cli/support/term.h"
#include "isa/core/visible.h"

namespace palladion::cli {
namespace {

int first_failure = 0;

int write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {  // whoever made the stream does not want it to block: waited for here
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

}  // namespace

void write_out(std::string_view bytes) {
  if (first_failure == 0) first_failure = write_whole(STDOUT_FILENO, bytes);
}

void print_out(std::string_view text) { write_out(isa::visible(text, wants_color(stdout))); }

// There is no place to report that standard error cannot be written.
void print_err(std::string_view text) {
  (void)write_whole(STDERR_FILENO, isa::visible(text, wants_color(stderr)));
}

int output_failure() { return first_failure; }
void forget_output_failure() { first_failure = 0; }

void ignore_broken_pipes() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // `ulimit -f`: the write fails, and names its file
}

}  // namespace palladion::cli
