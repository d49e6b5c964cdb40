// The processes that touch a learner's file.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontend/launch/kernel.h"
#include "isa/arch/arch.h"
#include "isa/core/diagnostic.h"
#include "kernels/files/compiler.h"
#include "kernels/files/kernel_file.h"
#include "labs/engine/kernel_text.h"
#include "labs/engine/recording.h"
#include "labs/engine/supervisor.h"
#include "verify/arrays/words.h"

namespace palladion::labs {

using namespace host;

namespace {

namespace fs = std::filesystem;
namespace json = report::json;

constexpr uint64_t mebibyte = uint64_t{1} << 20;

struct Chosen {
  std::map<std::string, std::string> sizes, settings;  // those of a case that the kernel has
};

// Of "n=4096,stages=3".
Chosen chosen(const kernels::KernelSpec& spec, std::string_view word) {
  Chosen out;
  for (const std::string_view pair : split(word, ",")) {
    const size_t equals = pair.find('=');
    const std::string name(pair.substr(0, equals)), value(pair.substr(equals + 1));
    const bool is_size =
        std::ranges::any_of(spec.sizes, [&](const kernels::SizeParam& s) { return s.name == name; });
    const bool is_setting =
        std::ranges::any_of(spec.settings, [&](const kernels::Setting& s) { return s.name == name; });
    if (is_size) out.sizes.emplace(name, value);
    if (is_setting) out.settings.emplace(name, value);  // the lab's arrays may have sizes of their own
  }
  return out;
}

json::array names_of(const std::map<std::string, std::string>& values) {
  json::array names;
  for (const auto& [name, value] : values) names.emplace_back(name);
  return names;
}

json::object refused(const isa::Diagnostics& diagnostics, std::string text) {
  json::array codes;
  for (const isa::Diagnostic& d : diagnostics) codes.emplace_back(d.code.name());
  return {{"text", std::move(text)}, {"codes", std::move(codes)}};
}

json::object recorded(const kernels::KernelSpec& spec, std::string_view word, const isa::ArchSpec& arch) {
  try {
    const Chosen c = chosen(spec, word);
    return {{"kernel", kernel_json(spec.build(kernels::choose(spec, c.sizes, c.settings, &arch)))},
            {"sizes", names_of(c.sizes)},
            {"settings", names_of(c.settings)}};
  } catch (const isa::Error& e) {
    return refused(e.diagnostics(), failure_of(e.diagnostics()).value().text);
  } catch (const std::exception& e) {
    return refused({}, fmt::format("error: the kernel's function threw: {}\n", e.what()));
  }
}

// The file's only kernel, whatever its name; of several, that of the lab's name.
Outcome<const kernels::KernelSpec*> submitted_kernel(const std::string& object, const std::string& name) {
  const auto all = kernels::kernels_of_file(object);
  if (!all) return tl::make_unexpected(all.error());
  if (all->size() == 1) return all->data();
  const auto at = std::ranges::find(*all, name, &kernels::KernelSpec::name);
  if (at != all->end()) return &*at;
  std::vector<std::string> names;
  for (const kernels::KernelSpec& spec : *all) names.push_back("`" + spec.name + "`");
  return user_error(fmt::format("the file has {} kernels, {}, and none is called `{}`", names.size(),
                                fmt::join(names, ", "), name),
                    fmt::format("the lab judges one: Spec(\"{}\", ...), or a file with one kernel", name));
}

void write_line(int to, const std::string& line) {
  for (size_t done = 0; done < line.size();) {
    const ssize_t wrote = ::write(to, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += size_t(wrote);
  }
}

// What the learner's code prints is not an answer.
int answers_alone() {
  const int answers = ::dup(STDOUT_FILENO), nothing = ::open("/dev/null", O_WRONLY);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::close(nothing);
  return answers;
}

// Confined; the first line of the answers says by what. Does not return where that is not enough.
void enter(const Orders& orders, const Limits& limits, Confined held, int answers) {
  confine(limits, held);
  write_line(answers, fmt::format("{}{}\n", confined_by, fmt::join(held, " ")));
  if (!is_enough(held) && !orders.unconfined) ::_exit(1);
}

// Where a compiler in /opt is installed, with what it needs.
std::vector<fs::path> installations(const std::vector<std::string>& command) {
  std::vector<fs::path> out;
  for (const std::string& word : command) {
    std::error_code none;
    const auto file = kernels::on_path(word);
    if (!file) break;
    const fs::path folder = fs::canonical(*file, none).parent_path().parent_path();
    if (folder.string().starts_with("/opt/")) out.push_back(folder);
  }
  return out;
}

Limits limits_of_compiler(const std::vector<std::string>& words, const kernels::Headers& headers,
                          const std::vector<std::string>& command) {
  Limits limits{.cpu_seconds = 120,
                .wall_seconds = 300,
                .memory = 8192 * mebibyte,
                .processes = 64,
                .file_bytes = 512 * mebibyte,
                .readable = system_folders(),
                .writable = {fs::path(words[0]).parent_path(), "/dev/null"},
                .submission = words[1],
                .may_start_programs = true};
  const auto add = [&](const std::vector<fs::path>& paths) {
    limits.readable.insert(limits.readable.end(), paths.begin(), paths.end());
  };
  add({words[2]});
  add(kernels::header_places(headers));
  add(installations(command));
  return limits;
}

}  // namespace

Outcome<void> record_confined(std::vector<std::string> words) {
  const Orders orders = take_orders(words);
  if (words.size() < 5) return user_error("record-confined ORDERS OBJECT FILE KERNEL ARCH VALUES...");
  const isa::ArchSpec* const arch = isa::find_arch(words[3]);
  if (arch == nullptr) return user_error(fmt::format("there is no chip `{}`", words[3]));
  Limits limits{.cpu_seconds = 20,
                .wall_seconds = 60,
                .memory = 4096 * mebibyte,
                .processes = 4,
                .readable = system_folders(),
                .submission = words[1]};
  limits.readable.emplace_back(words[0]);
  const Confined held = supervise(orders, limits);
  const int answers = answers_alone();
  enter(orders, limits, held, answers);
  const auto spec = submitted_kernel(words[0], words[2]);
  for (size_t i = 4; i < words.size(); ++i) {
    const json::object answer = spec ? recorded(**spec, words[i], *arch) : refused({}, spec.error().text);
    write_line(answers, report::json_line(answer) + "\n");
  }
  ::_exit(0);  // without the file's destructors
}

Outcome<void> compile_confined(std::vector<std::string> words, const std::vector<std::string>& command) {
  const Orders orders = take_orders(words);
  if (words.size() != 3 || command.empty())
    return user_error("compile-confined ORDERS OUTPUT SOURCE HEADERS -- COMMAND");
  const auto headers = kernels::find_headers();
  if (!headers) return tl::make_unexpected(headers.error());
  const std::string temporary = fs::path(words[0]).parent_path().string();
  ::setenv("TMPDIR", temporary.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const Limits limits = limits_of_compiler(words, *headers, command);
  enter(orders, limits, supervise(orders, limits), STDOUT_FILENO);
  ::execvp(arguments[0], arguments.data());
  return user_error(fmt::format("{} cannot be started: {}", command[0], std::strerror(errno)));
}

}  // namespace palladion::labs
