#include "cli/options/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/options/kernel_word.h"
#include "isa/host/files.h"
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

void add_argument(Files& files, const std::string& text, const std::string& option) {
  const auto spec = parse_arg(text);
  if (!spec) return;  // reported where it is parsed
  const ArrayArg* array = array_of(*spec);
  if (const auto* bytes = std::get_if<BytesArg>(&*spec)) files.inputs.push_back({option, bytes->file});
  if (array == nullptr || array->file.empty()) return;
  (array->role == Role::out ? files.outputs : files.inputs).push_back({option, array->file});
}

// A text of the kind "NAME=...".
std::string_view behind_equals(std::string_view text) {
  return text.substr(std::min(text.find('='), text.size() - 1) + 1);
}

void add_named(std::vector<Named>& files, const std::string& option, const std::string& text) {
  files.push_back({option + " " + text.substr(0, text.find('=')), std::string(behind_equals(text))});
}

void add_files(Files& files, const Option& option, const std::string& text) {
  const std::string name = option.name();
  switch (option.value) {
    case Value::text:
    case Value::folder:
      return;
    case Value::kernel:
      if (const auto file = kernel_file_word(text)) files.inputs.push_back({"the kernel", file->file});
      return;
    case Value::input:
      return files.inputs.push_back({name, text});
    case Value::output:
    case Value::continued:
      return files.outputs.push_back({name, text});
    case Value::named_input:
      return add_named(files.inputs, name, text);
    case Value::named_output:
      return add_named(files.outputs, name, text);
    case Value::argument:
      return add_argument(files, text, name);
    case Value::binding:
      return add_argument(files, std::string(behind_equals(text)), name);
  }
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

Outcome<void> check_paths(std::span<const GivenOption> given) {
  Files files;
  std::set<std::string> continued;  // must be there; opened where they are read
  for (const auto& [option, texts] : given)
    for (const std::string& text : *texts) {
      if (text.empty()) continue;
      add_files(files, *option, text);
      if (option->value == Value::continued) continued.insert(option->name());
    }
  for (size_t i = 0; i < files.outputs.size(); ++i) {
    const Named& output = files.outputs[i];
    for (size_t k = 0; k < i; ++k)
      if (const auto ok = refuse_same(output, files.outputs[k], "one would replace the other"); !ok)
        return ok;
    for (const Named& input : files.inputs)
      if (const auto ok = refuse_same(output, input, "it would replace what is read"); !ok) return ok;
    if (continued.contains(output.option)) continue;
    if (const auto ok = probe_file(output.path); !ok)
      return user_error(fmt::format("{}: {}", output.option, ok.error()));
  }
  return {};
}

}  // namespace palladion::cli
