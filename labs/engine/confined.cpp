// The processes that touch a learner's file.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frontend/launch/kernel.h"
#include "isa/arch/arch.h"
#include "isa/core/diagnostic.h"
#include "isa/host/cache.h"
#include "kernels/files/compiler.h"
#include "kernels/files/kernel_file.h"
#include "labs/engine/kernel_text.h"
#include "labs/engine/recording.h"
#include "labs/engine/sandbox.h"
#include "verify/arrays/words.h"

namespace palladion::labs {

using namespace host;

namespace {

namespace fs = std::filesystem;
namespace json = report::json;

constexpr uint64_t mebibyte = uint64_t{1} << 20;

fs::path real_folder_of(const fs::path& file) {
  std::error_code none;
  const fs::path real = fs::weakly_canonical(file, none);
  return real.parent_path();
}

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
  for (const isa::Diagnostic& d : diagnostics) codes.emplace_back(d.code);
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

}  // namespace

Outcome<void> record_confined(const std::vector<std::string>& words) {
  if (words.size() < 5) return user_error("record-confined OBJECT FILE KERNEL ARCH VALUES...");
  const isa::ArchSpec* const arch = isa::find_arch(words[3]);
  if (arch == nullptr) return user_error(fmt::format("there is no chip `{}`", words[3]));
  const int answers = answers_alone();
  Limits limits{
      .cpu_seconds = 20, .wall_seconds = 60, .memory = 4096 * mebibyte, .readable = system_folders()};
  limits.readable.emplace_back(words[0]);
  limits.readable.emplace_back(words[1]);
  confine(limits);
  const auto spec = kernels::kernel_of_file(words[0], words[2]);
  for (size_t i = 4; i < words.size(); ++i) {
    const json::object answer = spec ? recorded(**spec, words[i], *arch) : refused({}, spec.error().text);
    write_line(answers, report::json_line(answer) + "\n");
  }
  ::_exit(0);  // without the file's destructors
}

Outcome<void> compile_confined(const std::vector<std::string>& words,
                               const std::vector<std::string>& command) {
  if (words.size() != 3 || command.empty())
    return user_error("compile-confined OUTPUT SOURCE TEMPORARY -- COMMAND");
  const auto headers = kernels::find_headers();
  if (!headers) return tl::make_unexpected(headers.error());
  const fs::path output = words[0], source = words[1], temporary = words[2];
  std::error_code none;
  Limits limits{.cpu_seconds = 120,
                .wall_seconds = 300,
                .memory = 8192 * mebibyte,
                .file_bytes = 512 * mebibyte,
                .readable = system_folders(),
                .writable = {},
                .may_start_programs = true};
  for (const fs::path& path : {headers->include, fs::canonical(headers->include / "palladion", none),
                               cache_folder("headers"), real_folder_of(source)})
    limits.readable.push_back(path);
  for (const fs::path& path : {output.parent_path(), temporary, fs::path("/dev/null")})
    limits.writable.push_back(path);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  confine(limits);
  ::execvp(arguments[0], arguments.data());
  return user_error(fmt::format("{} cannot be started: {}", command[0], std::strerror(errno)));
}

}  // namespace palladion::labs
