// Random command lines with real files, whole and broken (command_words.h). `program::main` is called as main
// calls it; whatever the words and the files are, it ends with a documented exit code, says something,
// prints no control byte, and a JSON file that it has written is valid. What has run for ten seconds of
// processor time (a kernel at its full size, a loop without a limit) gets Ctrl-C and must end; such a case is
// listed.
//
//   command_fuzz CASES [SEED [FIRST]]     the cases FIRST, FIRST + 1, ... of a seed
//
// A forked worker runs many cases in one process; the parent follows it through a page that both see, ends
// one that hangs, tells the command line of one that fails, and starts the next one behind it.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "isa/core/visible.h"
#include "kernels/frame/registry.h"
#include "program.h"
#include "tests/fuzz/command_words.h"
#include "tests/support/toolkit.h"

namespace {

using palladion::fuzz::Files;
using palladion::fuzz::Random;
using palladion::fuzz::Words;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;
namespace isa = palladion::isa;

// Of a case, then of its end after Ctrl-C. Of the processor's time, so that a busy machine is no hang.
constexpr double longest_cpu = 10, longest_end = 10;
constexpr auto longest_wall = std::chrono::minutes(5);
constexpr uint64_t cases_a_worker = 1000;

// What the worker tells.
struct Page {
  std::atomic<uint64_t> at, slowest_ms, slowest_case;
  std::atomic<uint64_t> codes[256];
  std::atomic<bool> interrupted;  // the present case
  char problem[4096];
};

std::string text_of(const Words& words) {
  std::string text = "palladion";
  for (const std::string& word : words) {
    text += " '";
    for (const char c : isa::visible(word)) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

// Standard output and standard error of the cases, in one file each that is emptied before every case.
class Captured {
 public:
  explicit Captured(const fs::path& folder) {
    for (int i = 0; i < 2; ++i) {
      file_[i] = ::open((folder / (i == 0 ? "stdout" : "stderr")).c_str(),
                        O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
      ::dup2(file_[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
    }
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
  }
  void clear() {
    for (const int file : file_)
      if (::ftruncate(file, 0) != 0) std::abort();
  }
  std::string text(int i) const {
    const off_t size = ::lseek(file_[i], 0, SEEK_END);
    std::string out(size < 0 ? 0 : static_cast<size_t>(size), '\0');
    if (::pread(file_[i], out.data(), out.size(), 0) < 0) out.clear();
    return out;
  }

 private:
  int file_[2];
};

// `ptx --output FILE` says nothing when it has written the file.
bool may_be_silent(const Words& words, int code) {
  return code == 0 && words.front() == "ptx" && std::ranges::count(words, "--output") != 0;
}

std::string problem_of(const Words& words, int code, bool interrupted, const std::string& out,
                       const std::string& err, const fs::path& folder) {
  switch (code) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 74:
      break;
    case 130:
      if (interrupted) break;
      [[fallthrough]];
    default:
      return "exit code " + std::to_string(code);
  }
  if (out.empty() && err.empty() && !may_be_silent(words, code)) return "it says nothing";
  if (code >= 2 && err.empty() && out.find("verdict") == std::string::npos &&
      out.find("sweep") == std::string::npos && out.find("not ") == std::string::npos)
    return "an error without a message";
  if (err != isa::visible(err)) return "control bytes on standard error";
  if (err.size() > 200'000) return "an endless message";
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending == ".part") return "a half-written file is left: " + entry.path().string();
    if (ending != ".json" && ending != ".sarif") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    boost::json::error_code wrong;
    boost::json::parse(text, wrong);
    if (wrong.failed() || text != isa::valid_utf8(text)) return "JSON that is none: " + entry.path().string();
    in.close();
    fs::remove(entry.path());
  }
  return {};
}

[[noreturn]] void fail(Page& page, const std::string& problem, const std::string& out,
                       const std::string& err) {
  const std::string text = problem + "\n--- standard output\n" + out.substr(0, 1500) +
                           "\n--- standard error\n" + err.substr(0, 1500);
  std::strncpy(page.problem, text.c_str(), sizeof page.problem - 1);
  ::_exit(99);
}

void run_case(Page& page, uint64_t number, uint64_t seed, Files& files, Captured& captured) {
  Random random(seed * 0x9E3779B97F4A7C15ULL + number);
  const Words words = palladion::fuzz::command_line(files, random);
  std::vector<const char*> argv = {"palladion"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  captured.clear();
  const auto kernels = palladion::kernels::all_kernels();
  const auto start = Clock::now();
  const int code =
      palladion::program::main(static_cast<int>(argv.size()), argv.data(), {kernels.begin(), kernels.end()});
  const auto ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
  if (ms > page.slowest_ms) page.slowest_ms = ms, page.slowest_case = number;
  ++page.codes[code & 255];
  const std::string out = captured.text(0), err = captured.text(1);
  if (const std::string problem = problem_of(words, code, page.interrupted, out, err, files.folder());
      !problem.empty())
    fail(page, problem, out, err);
}

[[noreturn]] void work(Page& page, uint64_t seed, uint64_t end, const fs::path& folder) {
  fs::current_path(folder);
  Files files(PLD_SOURCE_DIR, folder);
  Captured captured(folder);
  for (uint64_t number = page.at; number < end; ++number) {
    page.interrupted = false;
    page.at = number;
    run_case(page, number, seed, files, captured);
  }
  page.at = end;
  ::_exit(0);
}

// Seconds of processor time that the process has used: fields 14 and 15 of /proc/PID/stat (proc(5)).
double cpu_seconds(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.erase(0, text.rfind(')') + 1);
  std::istringstream fields(text);
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

enum class End { by_itself, by_interrupt, hung };

// Waits for the worker's end. A case that takes long gets Ctrl-C, which `tell` receives, and SIGKILL when it
// does not end of that.
template <class Tell>
End await(pid_t worker, Page& page, int& status, const Tell& tell) {
  uint64_t at = ~uint64_t{0};
  auto since = Clock::now();
  double cpu = 0;
  bool interrupted = false;
  for (;;) {
    if (::waitpid(worker, &status, WNOHANG) == worker)
      return interrupted && page.at == at ? End::by_interrupt : End::by_itself;
    const double used = cpu_seconds(worker);
    if (page.at != at) {
      at = page.at;
      since = Clock::now();
      cpu = used;
      interrupted = false;
    }
    const bool late = Clock::now() - since > longest_wall;
    if (late || used - cpu > longest_cpu + (interrupted ? longest_end : 0)) {
      if (late || interrupted) {
        ::kill(worker, SIGKILL);
        ::waitpid(worker, &status, 0);
        return End::hung;
      }
      interrupted = page.interrupted = true;
      ::kill(worker, SIGINT);
      tell(at);
    }
    ::usleep(20000);
  }
}

std::string describe_case(uint64_t number, uint64_t seed) {
  const palladion::toolkit::TemporaryFolder folder;
  Files files(PLD_SOURCE_DIR, folder.path());
  Random random(seed * 0x9E3779B97F4A7C15ULL + number);
  return text_of(palladion::fuzz::command_line(files, random));
}

void tell(uint64_t number, uint64_t seed, const char* what, const char* problem) {
  std::printf("case %llu of seed %llu: %s\n  %s\n  %s\n", static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(seed), what, describe_case(number, seed).c_str(), problem);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const auto most = std::chrono::seconds(argc > 4 ? std::atoi(argv[4]) : 1'000'000);
  void* const shared =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Page& page = *new (shared) Page{};
  page.at = first;
  uint64_t failures = 0, long_ones = 0;
  const auto start = Clock::now();
  while (page.at < first + cases && Clock::now() - start < most) {
    const palladion::toolkit::TemporaryFolder folder;
    page.problem[0] = 0;
    const pid_t worker = ::fork();
    if (worker == 0) work(page, seed, std::min(first + cases, page.at + cases_a_worker), folder.path());
    int status = 0;
    const End end = await(worker, page, status, [&](uint64_t at) {
      ++long_ones;
      tell(at, seed, "it takes long, and gets Ctrl-C", "");
    });
    const bool exited = WIFEXITED(status);
    if (end == End::by_itself && exited && WEXITSTATUS(status) == 0) continue;
    const uint64_t at = page.at;
    if (end == End::by_interrupt && exited && WEXITSTATUS(status) == 130) {
      ++page.codes[130];
    } else {
      ++failures;
      tell(at, seed,
           end == End::hung ? "it hung"
           : exited         ? "it failed"
                            : ::strsignal(WTERMSIG(status)),
           page.problem);
    }
    page.at = at + 1;
  }
  struct rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const double cpu = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf(
      "%llu command lines in %.0f s, %.1f s of processor time, %llu failures, %llu long ones; the slowest "
      "%llu ms (case "
      "%llu); exit codes",
      static_cast<unsigned long long>(page.at - first), seconds, cpu,
      static_cast<unsigned long long>(failures), static_cast<unsigned long long>(long_ones),
      static_cast<unsigned long long>(page.slowest_ms.load()),
      static_cast<unsigned long long>(page.slowest_case.load()));
  for (int code = 0; code < 256; ++code)
    if (page.codes[code] != 0)
      std::printf(" %d: %llu", code, static_cast<unsigned long long>(page.codes[code].load()));
  std::printf("\n");
  return failures == 0 ? 0 : 1;
}
