#include "cuda/programs/watched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "cuda/programs/say.h"
#include "isa/host/descriptor.h"

namespace palladion::cuda::programs {

using namespace host;

namespace {

constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// While it exists, the signals that concern the program wait until they are read.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    for (const int signal : passed_on) ::sigaddset(&set_, signal);
    ::sigaddset(&set_, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    file_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    ::close(file_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return file_; }
  // As this program got them: to be called in the new process.
  void give_back() const {
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  // A key of the terminal signals all processes of its foreground group, the program among them.
  void pass_on(pid_t program) const {
    signalfd_siginfo s{};
    while (::read(file_, &s, sizeof s) == static_cast<ssize_t>(sizeof s)) {
      const bool has_it = s.ssi_code == SI_KERNEL && ::getpgid(program) == ::getpgid(0);
      if (s.ssi_signo != SIGCHLD && !has_it) ::kill(program, static_cast<int>(s.ssi_signo));
    }
  }

 private:
  ::sigset_t set_{}, before_{};
  int file_ = -1;
};

// Parts become records.
class Records {
 public:
  explicit Records(const TakeRecord& take) : take_(take) {}

  // What lies in the pipe now.
  void read(int pipe) {
    int bytes = 0;
    if (::ioctl(pipe, FIONREAD, &bytes) != 0 || bytes <= 0) return;
    const size_t before = unread_.size();
    unread_.resize(before + static_cast<size_t>(bytes));
    const ssize_t got = ::read(pipe, unread_.data() + before, static_cast<size_t>(bytes));
    unread_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    size_t at = 0;
    while (take_part(std::string_view(unread_).substr(at), at)) continue;
    unread_.erase(0, at);
  }

 private:
  bool take_part(std::string_view bytes, size_t& at) {
    report::ExecPart head;
    if (bytes.size() < sizeof head) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (bytes.size() - sizeof head < head.bytes) return false;
    at += sizeof head + head.bytes;
    std::string& record = begun_[head.sender];
    record += bytes.substr(sizeof head, head.bytes);
    if (head.last == 0) return true;
    take_(head.sender, head.key, std::move(record));
    return begun_.erase(head.sender), true;
  }

  const TakeRecord& take_;
  std::string unread_;
  std::map<uint64_t, std::string> begun_;  // by the sender
};

[[noreturn]] void become(const ProgramStart& start, const std::string& pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // exec may be ended without a chance to pass anything on
  if (::getppid() != parent) ::_exit(could_not_run);
  start.prepare(pipe);
  std::vector<char*> words;
  for (const std::string& word : start.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int why = errno;
  say(fmt::format("error: {} cannot be run: {}\n", start.words.front(), std::strerror(why)));
  ::_exit(why == ENOENT ? not_there : could_not_run);
}

ProgramEnd wait_for(pid_t program, const Signals& signals, int pipe, Records& records) {
  int status = 0;
  for (;;) {
    pollfd files[] = {{signals.file(), POLLIN, 0}, {pipe, POLLIN, 0}};
    ::poll(files, 2, -1);
    signals.pass_on(program);
    const bool over = ::waitpid(program, &status, WNOHANG) == program;
    records.read(pipe);
    if (over) break;
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

Outcome<ProgramEnd> run_to_its_end(const ProgramStart& start, const TakeRecord& take) {
  int ends[2];
  struct stat about{};
  if (::pipe(ends) != 0) return user_error(fmt::format("no pipe: {}", std::strerror(errno)));
  const Descriptor reader(ends[0]), writer(ends[1]);
  ::fcntl(reader.get(), F_SETFD, FD_CLOEXEC);
  ::fstat(writer.get(), &about);
  const std::string name = fmt::format("{}:{}:{}", writer.get(), about.st_ino, ::getpid());
  const Signals signals;
  const pid_t parent = ::getpid(), program = ::fork();
  if (program < 0) return user_error(fmt::format("no process: {}", std::strerror(errno)));
  if (program == 0) {
    signals.give_back();
    become(start, name, parent);
  }
  Records records(take);
  return wait_for(program, signals, reader.get(), records);
}

}  // namespace palladion::cuda::programs
