#include "labs/engine/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>

#include "isa/arch/arch.h"
#include "isa/core/visible.h"
#include "isa/host/cache.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "kernels/files/object.h"
#include "labs/engine/kernel_text.h"
#include "labs/engine/supervisor.h"
#include "verify/arrays/words.h"

namespace palladion::labs {

using namespace host;

namespace {

namespace fs = std::filesystem;
namespace json = report::json;

// This very program, wherever its file is.
std::string& program_path() {
  static std::string path = "/proc/self/exe";
  return path;
}

// From the first line that states an error up to the next message; the whole text when no line does.
std::string first_error(const std::string& messages) {
  const auto lines = split(messages, "\n");
  const auto states = [](std::string_view line, std::string_view what) {
    return line.find(what) != std::string_view::npos;
  };
  std::string out;
  for (const std::string_view line : lines) {
    const bool is_error = states(line, " error: ") || line.starts_with("error: ");
    if (!out.empty() && (is_error || states(line, " note: ") || states(line, " warning: ") ||
                         line.starts_with("In file") || states(line, ": In ")))
      break;
    if (is_error || !out.empty()) out += fmt::format("{}\n", line);
  }
  return out.empty() ? messages : out;
}

std::string why_ended(const Ended& ended) {
  if (ended.signal == SIGALRM || ended.signal == SIGXCPU || ended.signal == SIGKILL)
    return "reached its time limit, or its limit of memory: is there an endless loop on the host?";
  if (ended.signal == SIGSEGV)
    return "ended by a segmentation fault: an array index out of range, or a null pointer?";
  if (ended.signal != 0) return fmt::format("ended by signal {}", ended.signal);
  return "ended without an answer";
}

Values named_in(const json::value& names, const Values& values) {
  Values out;
  for (const json::value& name : names.as_array())
    if (const auto at = values.find(std::string(name.as_string())); at != values.end()) out.insert(*at);
  return out;
}

// A submission names its lines' files itself (#line), and what shows them is not confined: lines of other
// files become unknown.
void hide_other_sources(isa::Module& module, const fs::path& file) {
  std::map<std::string, bool> is_shown;
  for (isa::SourceFrame& frame : module.frames) {
    isa::SourceLoc& loc = frame.at;
    const auto [at, is_new] = is_shown.try_emplace(loc.file);
    std::error_code none;
    if (is_new) at->second = fs::equivalent(loc.file, file, none);
    if (!at->second) loc = {};
  }
}

Recording recording_of(const json::value& answer, const Values& values, const fs::path& file) {
  Recording out;
  const json::object& o = answer.as_object();
  if (const json::value* kernel = o.if_contains("kernel")) {
    if (auto read = kernel_of(*kernel)) {
      out.kernel = std::move(*read);
      hide_other_sources(out.kernel.module, file);
      out.sizes = named_in(o.at("sizes"), values);
      out.settings = named_in(o.at("settings"), values);
      return out;
    } else {
      out.text = read.error().text;
      out.refusals.push_back({"PLD", out.text});
      return out;
    }
  }
  out.text = o.at("text").as_string();
  for (const json::value& code : o.at("codes").as_array())
    out.refusals.push_back({std::string(code.as_string()), out.text});
  if (out.refusals.empty()) out.refusals.push_back({"PLD", out.text});
  return out;
}

// What a compiler and the program itself need of ours. The rest, a teacher's tokens, is nobody's business.
std::vector<std::string> bare_environment() {
  std::vector<std::string> out = {"CCACHE_DISABLE=1"};
  for (const char* const name :
       {"PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"})
    if (const char* const value = std::getenv(name)) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

// Starts the processes of one submission and keeps what confined them all.
class Confiner {
 public:
  Confiner(fs::path file, bool unconfined) : file_(std::move(file)), unconfined_(unconfined) {}

  Ended run(const std::string& command, const std::vector<std::string>& more) {
    constexpr size_t most_answer = size_t{256} << 20;
    std::vector<std::string> words = {confined_program(), "lab", command};
    for (const auto& part : {Orders{::getpid(), temporary_.path(), unconfined_}.words(), more})
      words.insert(words.end(), part.begin(), part.end());
    Ended ended =
        run_quietly(words, {.most = most_answer, .ended_by = SIGTERM, .environment = bare_environment()});
    take_first_line(ended.output);
    return ended;
  }

  // The compiler; `messages` gets what it says.
  kernels::RunCompiler compiler(std::string& messages) {
    return [this, &messages](const std::vector<std::string>& command, const fs::path& output) {
      const auto headers = private_cache("headers");
      std::vector<std::string> words = {output.string(), file_.string(), headers.value_or("").string(), "--"};
      words.insert(words.end(), command.begin(), command.end());
      Ended ended = run("compile-confined", words);
      messages = isa::visible(ended.output);
      ended.output.clear();
      return ended;
    };
  }

  // Why the submission was not touched; nothing: it was.
  Outcome<void> allowed() const {
    if (unconfined_ || !started_ || is_enough(held_)) return {};
    return unsupported(
        fmt::format("a submission is not run: this kernel does not confine what it reads, writes and calls "
                    "(Landlock, from Linux 5.13, and seccomp); it offers: {}",
                    held_.empty() ? "nothing" : fmt::format("{}", fmt::join(held_, ", "))),
        "--unconfined insists, for files that you would run yourself");
  }

  const fs::path& folder() const { return temporary_.path(); }
  const Confined& held() const { return held_; }

 private:
  // Written before the submission was touched, so it is true.
  void take_first_line(std::string& output) {
    if (!output.starts_with(confined_by)) return;
    const size_t end = output.find('\n');
    Confined held;
    for (const std::string_view word :
         split(std::string_view(output).substr(confined_by.size(), end - confined_by.size()), " "))
      if (!word.empty() && (!started_ || std::ranges::find(held_, word) != held_.end()))
        held.emplace_back(word);
    held_ = std::move(held);
    started_ = true;
    output.erase(0, end == std::string::npos ? end : end + 1);
  }

  const TemporaryFolder temporary_;
  fs::path file_;
  bool unconfined_;
  bool started_ = false;
  Confined held_;
};

Outcome<std::vector<Recording>> recordings_of(const Ended& ended, const std::vector<Values>& all_values,
                                              const fs::path& file) {
  std::vector<Recording> all;
  const auto failed = [&] {
    return user_error(fmt::format("{}: the recording of the kernel {}", file.string(), why_ended(ended)));
  };
  for (const std::string_view line : split(ended.output, "\n")) {
    if (line.empty()) continue;
    const size_t n = all.size();
    try {
      all.push_back(recording_of(json::parse(line), n < all_values.size() ? all_values[n] : Values{}, file));
    } catch (const std::exception&) {
      return failed();
    }
  }
  if (all.size() != all_values.size()) return failed();
  return all;
}

}  // namespace

void set_confined_program(std::string path) { program_path() = std::move(path); }
const std::string& confined_program() { return program_path(); }

namespace {

// Compiles and records; what the recording says, or the compiler's error in `out`. Its temporary files are
// gone.
Outcome<Ended> ended_recording(const Lab& lab, const fs::path& file, const std::vector<Values>& all_values,
                               const RecordRequest& request, Recordings& out) {
  const auto start = std::chrono::steady_clock::now();
  Confiner confiner(file, request.unconfined);
  if (confiner.folder().empty()) return user_error("there is no place for temporary files");
  std::string messages;
  const auto object = kernels::compiled_object(
      file, {.run = confiner.compiler(messages), .folder = confiner.folder(), .note = request.note});
  out.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const auto allowed = confiner.allowed(); !allowed) return tl::make_unexpected(allowed.error());
  out.confined = confiner.held();
  if (!object) {
    if (messages.empty()) return tl::make_unexpected(object.error());
    out.compiler_error = first_error(messages);
    return Ended{};
  }
  std::vector<std::string> words = {object->string(), file.string(), lab.kernel,
                                    lab.arch.empty() ? std::string(isa::default_arch().name) : lab.arch};
  for (const Values& values : all_values) words.push_back(text_of(values));
  Ended ended = confiner.run("record-confined", words);
  if (const auto allowed = confiner.allowed(); !allowed) return tl::make_unexpected(allowed.error());
  out.confined = confiner.held();
  return ended;
}

}  // namespace

Outcome<Recordings> record_file(const Lab& lab, const fs::path& file, const std::vector<Values>& all_values,
                                const RecordRequest& request) {
  Recordings out;
  const auto ended = ended_recording(lab, file, all_values, request, out);
  if (!ended) return tl::make_unexpected(ended.error());
  if (!out.compiler_error.empty()) return out;
  if (request.enter)
    if (const auto entered = request.enter(); !entered) return tl::make_unexpected(entered.error());
  auto all = recordings_of(*ended, all_values, file);
  if (!all) return tl::make_unexpected(all.error());
  out.all = std::move(*all);
  return out;
}

}  // namespace palladion::labs
