#include "cuda/driver/reporting.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "report/json/exec_record.h"
#include "report/json/findings_json.h"
#include "report/text/finding_text.h"
#include "sim/check/core/merge.h"

namespace palladion::cuda::driver {
namespace {

namespace json = report::json;
using Key = report::ExecKey;

bool is_file(int file, ino_t inode) {
  struct stat about{};
  return ::fstat(file, &about) == 0 && S_ISFIFO(about.st_mode) && about.st_ino == inode;
}

// A signal of a pipe without a reader would end the program, which goes on when exec has ended.
class WithoutBrokenPipe {
 public:
  WithoutBrokenPipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutBrokenPipe() {
    const timespec at_once{};
    if (broken && !was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutBrokenPipe(const WithoutBrokenPipe&) = delete;
  WithoutBrokenPipe& operator=(const WithoutBrokenPipe&) = delete;
  bool broken = false;

 private:
  ::sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

class Channel {
 public:
  explicit Channel(const Settings::Report& where)
      : where_(where),
        file_(where.file),
        sender_(static_cast<uint64_t>(::getpid()) << 40 ^
                static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())) {
    if (where_.file < 0) return;
    std::error_code failed;
    send({Key::Kind::program, 0},
         json::string(std::filesystem::read_symlink("/proc/self/exe", failed).string()));
  }

  void send(const Key& key, const json::value& value) {
    if (where_.file < 0) return;
    const std::string text = report::json_line(value);
    for (size_t at = 0; at == 0 || at < text.size(); at += report::most_of_part)
      if (!put(key, std::string_view(text).substr(at, report::most_of_part),
               at + report::most_of_part >= text.size()))
        return;
  }

 private:
  // The program may have closed it, or use its number for a file of its own.
  bool find() {
    if (is_file(file_, where_.inode)) return true;
    const std::string path = fmt::format("/proc/{}/fd/{}", where_.process, where_.file);
    const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (opened < 0) return false;
    file_ = opened;
    return is_file(file_, where_.inode);
  }
  bool put(const Key& key, std::string_view part, bool last) {
    char bytes[PIPE_BUF];
    const report::ExecPart head{sender_, key, static_cast<uint32_t>(part.size()), last ? 1U : 0U};
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + sizeof head, part.data(), part.size());
    WithoutBrokenPipe no_signal;
    ssize_t put = -1;
    if (find())
      while ((put = ::write(file_, bytes, sizeof head + part.size())) < 0 && errno == EINTR) continue;
    if (put >= 0) return true;
    no_signal.broken = errno == EPIPE;
    where_.file = -1;
    std::fputs("palladion exec has ended, this program has not: what it launches now is not reported\n",
               stderr);
    return false;
  }

  Settings::Report where_;
  int file_;
  uint64_t sender_;
};

void send(const State& s, Key key, const json::value& value) {
  if (s.forked) return;
  static auto* const channel = new Channel(s.settings.report);
  channel->send(key, value);
}

uint32_t number_of(const State& s, const LaunchRecord& row) {
  return static_cast<uint32_t>(&row - s.launches.data());
}

json::array dim_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

// Of the program's own schedule, and of others.
json::array findings_of(const State& s, const std::vector<sim::Finding>& found, const Judged& judged = {}) {
  return report::findings_json(with_others(found, s.settings.schedule, judged));
}

// Said once, for all launches.
void report_remarks(const State& s) {
  std::vector<sim::Finding> all;
  for (const LaunchRecord& l : s.launches)
    std::ranges::copy_if(l.found, std::back_inserter(all), sim::check::is_remark);
  if (all.empty()) return;
  send(s, {Key::Kind::remarks, 0}, report::array_of(sim::check::merge(std::move(all)), [](const auto& f) {
         return report::finding_text(f);
       }));
}

}  // namespace

void report_launches(const State& s, const LaunchRecord& l) {
  send(s, {Key::Kind::launches, number_of(s, l)},
       json::object{{"kernel", report::named_json(l.kernel)},
                    {"grid", dim_json(l.grid)},
                    {"block", dim_json(l.block)},
                    {"launches", l.launches},
                    {"not_over", l.begun - l.launches},
                    {"findings", l.findings},
                    {"instructions", l.instructions},
                    {"cycles", l.cycles},
                    {"microseconds", l.microseconds},
                    {"judged", l.judged ? text_of(*l.judged) : "not checked"},
                    {"schedules_tried", l.judged.value_or(Judged{}).tried},
                    {"decided", l.judged.value_or(Judged{}).decided},
                    {"host_seconds", l.seconds}});
}

void report_findings(const State& s, const LaunchRecord& row) {
  send(s, {Key::Kind::findings, number_of(s, row)},
       json::object{{"findings", findings_of(s, row.found, row.judged.value_or(Judged{}))},
                    {"incomplete", report::array_of(row.incomplete)}});
  if (std::ranges::any_of(row.found, sim::check::is_remark)) report_remarks(s);
}

void report_host_findings(const State& s) {
  send(s, {Key::Kind::findings, report::host_findings},
       json::object{{"findings", findings_of(s, s.host_findings)}, {"incomplete", json::array()}});
}

void report_unsupported(const std::string& call, const Missing& missing) {
  send(state(), {Key::Kind::unsupported, missing.number},
       json::object{{"call", call}, {"count", missing.count}});
}

void report_computed(const std::string& call, const Missing& counted) {
  send(state(), {Key::Kind::computed, counted.number},
       json::object{{"call", call}, {"count", counted.count}});
}

void report_errors(const State& s) { send(s, {Key::Kind::errors, 0}, s.errors); }

}  // namespace palladion::cuda::driver
