#include "kernels/files/kernel_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "kernels/files/object.h"
#include "kernels/frame/registration.h"
#include "kernels/frame/registry.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* compile_again = "compile it with the headers of this very program";

Outcome<void> open_object(const std::string& file, const fs::path& object) {
  // dlopen looks for a name without a slash elsewhere.
  std::error_code unknown;
  if (::dlopen(fs::absolute(object, unknown).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  const char* const reason = ::dlerror();
  return user_error(fmt::format("{} cannot be loaded: {}", file, reason != nullptr ? reason : "unknown"),
                    "every function that it calls must be in it or in palladion");
}

// The kernels of what was registered after `before`.
Outcome<std::vector<kernels::KernelSpec>> take_new(const std::string& file,
                                                   const kernels::KernelFile* before) {
  std::vector<kernels::KernelSpec> all;
  for (const auto* one = kernels::registered_files(); one != before; one = one->next) {
    if (one->layout != kernels::layout)
      return user_error(fmt::format("{} was compiled against headers of another palladion: sizes of shared "
                                    "types are {} there, {} here",
                                    file, fmt::join(one->layout, " "), fmt::join(kernels::layout, " ")),
                        compile_again);
    std::vector<kernels::KernelSpec> some;
    one->kernels(some);
    all.insert(all.begin(), some.begin(), some.end());
  }
  if (all.empty())
    return user_error(fmt::format("{} names no kernel", file),
                      "name its kernels at its end: PALLADION_KERNELS(Spec(\"add\", \"out = a + b\", add))");
  return kernels::prepared(std::move(all));
}

Outcome<std::vector<kernels::KernelSpec>> load(const std::string& file) {
  const bool is_object = file.ends_with(".so");
  auto object = is_object ? Outcome<fs::path>(file) : compiled_object(file);
  if (!object) return tl::make_unexpected(object.error());
  const auto* const before = kernels::registered_files();
  if (const auto opened = open_object(file, *object); !opened) return tl::make_unexpected(opened.error());
  try {
    return take_new(file, before);
  } catch (const isa::Error& e) {
    return failure_of(e.diagnostics());
  } catch (const std::exception& e) {
    return user_error(fmt::format("{}: PALLADION_KERNELS threw: {}", file, e.what()));
  }
}

}  // namespace

Outcome<std::span<const kernels::KernelSpec>> kernels_of_file(const std::string& file) {
  static std::map<std::string, std::vector<kernels::KernelSpec>> loaded;
  const auto known = loaded.find(file);
  if (known != loaded.end()) return std::span<const kernels::KernelSpec>(known->second);
  auto kernels = load(file);
  if (!kernels) return tl::make_unexpected(kernels.error());
  return std::span<const kernels::KernelSpec>(loaded.emplace(file, std::move(*kernels)).first->second);
}

Outcome<const kernels::KernelSpec*> kernel_of_file(const KernelFileWord& word) {
  const auto kernels = kernels_of_file(word.file);
  if (!kernels) return tl::make_unexpected(kernels.error());
  if (word.kernel.empty() && kernels->size() == 1) return kernels->data();
  const auto at = std::ranges::find(*kernels, word.kernel, &kernels::KernelSpec::name);
  if (at != kernels->end()) return &*at;
  std::vector<std::string> words;
  for (const kernels::KernelSpec& spec : *kernels)
    words.push_back(fmt::format("{}:{}", word.file, spec.name));
  const std::string help = fmt::format("it has {}", fmt::join(words, ", "));
  return word.kernel.empty() ? user_error(fmt::format("{} has {} kernels", word.file, kernels->size()), help)
                             : user_error(fmt::format("{} has no kernel `{}`", word.file, word.kernel), help);
}

}  // namespace palladion::cli
