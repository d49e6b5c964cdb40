#include "isa/host/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>

#include "isa/host/abandon.h"

namespace palladion::host {
namespace {

// Set and read by a signal handler.
std::atomic<bool> interrupt_seen = false;
std::atomic<int> polled = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

struct Slot {
  enum State : int { empty, filling, full };
  std::atomic<int> state = empty;
  char path[PATH_MAX];
};
std::array<Slot, 16> unfinished;
std::atomic<pid_t> running = 0;

// Calls only what a signal handler may call.
[[noreturn]] void end_at_once() {
  if (const pid_t process = running.load(); process > 0) ::kill(process, SIGTERM);
  for (Slot& slot : unfinished)
    if (slot.state.load() == Slot::full) ::unlink(slot.path);
  constexpr char text[] = "interrupted\n";
  (void)!::write(STDERR_FILENO, text, sizeof text - 1);
  ::_exit(interrupted_code);
}

extern "C" void on_interrupt(int) {
  if (interrupt_seen.exchange(true) || polled.load() == 0) end_at_once();
}

}  // namespace

void install_interrupt_handler() {
  interrupt_seen = false;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;  // calls in progress are not cut short
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction present{};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup, a shell's `&`
  }
}

Polled::Polled() { ++polled; }
Polled::~Polled() { --polled; }

namespace {
std::atomic<bool> abandoned = false;
}
bool work_was_abandoned() { return abandoned; }
void note_abandoned_work() { abandoned = true; }

const std::atomic<bool>& interrupt_flag() { return interrupt_seen; }

Unfinished::Unfinished(const std::filesystem::path& file) : slot_(-1) {
  const std::string& path = file.native();
  if (path.size() >= PATH_MAX) return;
  for (size_t i = 0; i < unfinished.size() && slot_ < 0; ++i) {
    int expected = Slot::empty;
    if (!unfinished[i].state.compare_exchange_strong(expected, Slot::filling)) continue;
    std::memcpy(unfinished[i].path, path.c_str(), path.size() + 1);
    unfinished[i].state = Slot::full;
    slot_ = static_cast<int>(i);
  }
}

Child::Child(pid_t process) { running = process; }
Child::~Child() { running = 0; }

Unfinished::~Unfinished() {
  if (slot_ >= 0) unfinished[static_cast<size_t>(slot_)].state = Slot::empty;
}

}  // namespace palladion::host
