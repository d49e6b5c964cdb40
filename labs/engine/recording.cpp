#include "labs/engine/recording.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <csignal>
#include <map>

#include "isa/arch/arch.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "kernels/files/object.h"
#include "labs/engine/kernel_text.h"
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
    return "took too long, or too much memory: is there an endless loop on the host?";
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

// A submission names its lines' files itself (#line), and what shows them is not confined: lines of files
// outside its own folder become unknown.
void hide_other_sources(isa::Module& module, const fs::path& folder) {
  std::map<std::string, bool> is_shown;
  for (isa::SourceLoc& loc : module.source_locs) {
    const auto [at, is_new] = is_shown.try_emplace(loc.file);
    if (is_new) {
      std::error_code none;
      const fs::path below = fs::weakly_canonical(loc.file, none).lexically_relative(folder);
      at->second = !below.empty() && *below.begin() != "..";
    }
    if (!at->second) loc = {};
  }
}

Recording recording_of(const json::value& answer, const Values& values, const fs::path& folder) {
  Recording out;
  const json::object& o = answer.as_object();
  if (const json::value* kernel = o.if_contains("kernel")) {
    if (auto read = kernel_of(*kernel)) {
      out.kernel = std::move(*read);
      hide_other_sources(out.kernel.module, folder);
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

// The compiler, in limits; `messages` gets what it says.
kernels::RunCompiler confined_compiler(const fs::path& source, const fs::path& temporary,
                                       std::string& messages) {
  return [&](const std::vector<std::string>& command, const fs::path& output) {
    std::vector<std::string> words = {
        confined_program(), "lab", "compile-confined", output.string(), source.string(),
        temporary.string(), "--"};
    words.insert(words.end(), command.begin(), command.end());
    Ended ended = run_quietly(words);
    messages = std::move(ended.output);
    ended.output.clear();
    return ended;
  };
}

}  // namespace

void set_confined_program(std::string path) { program_path() = std::move(path); }
const std::string& confined_program() { return program_path(); }

Outcome<Recordings> record_file(const Lab& lab, const fs::path& file, const std::vector<Values>& all_values,
                                const kernels::Note& note) {
  Recordings out;
  const auto start = std::chrono::steady_clock::now();
  const TemporaryFolder temporary;
  std::string messages;
  const auto object = kernels::compiled_object(
      file, {.run = confined_compiler(file, temporary.path(), messages), .note = note});
  out.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!object) {
    if (messages.empty()) return tl::make_unexpected(object.error());
    out.compiler_error = first_error(messages);
    return out;
  }
  std::vector<std::string> words = {confined_program(),
                                    "lab",
                                    "record-confined",
                                    object->string(),
                                    file.string(),
                                    lab.kernel,
                                    lab.arch.empty() ? std::string(isa::default_arch().name) : lab.arch};
  for (const Values& values : all_values) words.push_back(text_of(values));
  constexpr size_t most_answer = size_t{256} << 20;
  const Ended ended = run_quietly(words, most_answer);
  std::error_code none;
  const fs::path folder = fs::weakly_canonical(file, none).parent_path();
  for (const std::string_view line : split(ended.output, "\n")) {
    if (line.empty()) continue;
    const size_t n = out.all.size();
    try {
      out.all.push_back(
          recording_of(json::parse(line), n < all_values.size() ? all_values[n] : Values{}, folder));
    } catch (const std::exception&) {
      return user_error(fmt::format("{}: the recording of the kernel {}", file.string(), why_ended(ended)));
    }
  }
  if (out.all.size() != all_values.size())
    return user_error(fmt::format("{}: the recording of the kernel {}", file.string(), why_ended(ended)));
  return out;
}

}  // namespace palladion::labs
