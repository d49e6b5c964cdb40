#include "cli/options/paths.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/options/kernel_word.h"
#include "cli/support/files.h"
#include "verify/launch/arg_spec.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string option, path;
};

struct Files {
  std::vector<Named> inputs, outputs;
};

void add_argument(Files& files, const std::string& text, const char* option) {
  const auto spec = parse_arg(text);
  if (!spec) return;  // reported where it is bound
  const ArrayArg* array = array_of(*spec);
  if (const auto* bytes = std::get_if<BytesArg>(&*spec)) files.inputs.push_back({option, bytes->file});
  if (array == nullptr || array->file.empty()) return;
  (array->role == Role::out ? files.outputs : files.inputs).push_back({option, array->file});
}

Files files_of(const Options& o) {
  Files files;
  const bool scopes_are_input = o.command == Command::compare;
  const std::pair<const char*, const std::string&> in[] = {
      {"--ptx", o.ptx}, {"--clock", o.clock}, {"--suppress", o.suppress}};
  const std::pair<const char*, const std::string&> out[] = {
      {"--json", o.json},     {"--sarif", o.sarif}, {"--trace", o.trace},  {"--report", o.report},
      {"--output", o.output}, {"--state", o.state}, {"--resume", o.resume}};
  if (const auto file = kernel_file_word(o.kernel)) files.inputs.push_back({"the kernel", file->file});
  for (const auto& [option, path] : in)
    if (!path.empty()) files.inputs.push_back({option, path});
  for (const auto& [option, path] : out)
    if (!path.empty() && o.command != Command::capture) files.outputs.push_back({option, path});
  if (!o.device_trace.empty())
    (scopes_are_input ? files.inputs : files.outputs).push_back({"--device-trace", o.device_trace});
  for (const auto& [name, path] : o.in) files.inputs.push_back({"--in " + name, path});
  for (const auto& [name, path] : o.out) files.outputs.push_back({"--out " + name, path});
  for (const std::string& text : o.args) add_argument(files, text, "--arg");
  for (const std::string& text : o.binds)
    add_argument(files, text.substr(std::min(text.find('=') + 1, text.size())), "--bind");
  return files;
}

// Devices and pipes may be named as often as one likes.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (fs::exists(a, none) && !fs::is_regular_file(a, none)) return false;
  if (fs::equivalent(a, b, none) && !none) return true;
  return fs::weakly_canonical(a, none) == fs::weakly_canonical(b, none);
}

Outcome<void> refuse_same(const Named& output, const Named& other, const char* why) {
  if (!is_same_file(output.path, other.path)) return {};
  return user_error(
      fmt::format("{} and {} name the same file, {}: {}", other.option, output.option, output.path, why));
}

}  // namespace

Outcome<void> check_paths(const Options& options) {
  const Files files = files_of(options);
  for (size_t i = 0; i < files.outputs.size(); ++i) {
    const Named& output = files.outputs[i];
    for (size_t k = 0; k < i; ++k)
      if (const auto ok = refuse_same(output, files.outputs[k], "one would replace the other"); !ok)
        return ok;
    for (const Named& input : files.inputs)
      if (const auto ok = refuse_same(output, input, "it would replace what is read"); !ok) return ok;
    if (output.option == "--resume") continue;  // it must be there; opened where it is read
    if (const auto ok = probe_file(output.path); !ok)
      return user_error(fmt::format("{}: {}", output.option, ok.error()));
  }
  return {};
}

}  // namespace palladion::cli
