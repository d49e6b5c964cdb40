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

namespace palladion::kernels {

using namespace host;

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
Outcome<std::vector<KernelSpec>> take_new(const std::string& file, const KernelFile* before) {
  std::vector<KernelSpec> all;
  for (const auto* one = registered_files(); one != before; one = one->next) {
    if (one->layout != layout)
      return user_error(fmt::format("{} was compiled against headers of another palladion: sizes of shared "
                                    "types are {} there, {} here",
                                    file, fmt::join(one->layout, " "), fmt::join(layout, " ")),
                        compile_again);
    std::vector<KernelSpec> some;
    one->kernels(some);
    all.insert(all.begin(), some.begin(), some.end());
  }
  if (all.empty())
    return user_error(fmt::format("{} names no kernel", file),
                      "name its kernels at its end: PALLADION_KERNELS(Spec(\"add\", \"out = a + b\", add))");
  return prepared(std::move(all));
}

Outcome<std::vector<KernelSpec>> load(const std::string& file, const Note& note) {
  const bool is_object = file.ends_with(".so");
  auto object = is_object ? Outcome<fs::path>(file) : compiled_object(file, {.run = {}, .note = note});
  if (!object) return tl::make_unexpected(object.error());
  const auto* const before = registered_files();
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

Outcome<std::span<const KernelSpec>> kernels_of_file(const std::string& file, const Note& note) {
  static std::map<std::string, std::vector<KernelSpec>> loaded;
  const auto known = loaded.find(file);
  if (known != loaded.end()) return std::span<const KernelSpec>(known->second);
  auto kernels = load(file, note);
  if (!kernels) return tl::make_unexpected(kernels.error());
  return std::span<const KernelSpec>(loaded.emplace(file, std::move(*kernels)).first->second);
}

Outcome<const KernelSpec*> kernel_of_file(const std::string& file, const std::string& kernel,
                                          const Note& note) {
  const auto kernels = kernels_of_file(file, note);
  if (!kernels) return tl::make_unexpected(kernels.error());
  if (kernel.empty() && kernels->size() == 1) return kernels->data();
  const auto at = std::ranges::find(*kernels, kernel, &KernelSpec::name);
  if (at != kernels->end()) return &*at;
  std::vector<std::string> words;
  for (const KernelSpec& spec : *kernels) words.push_back(fmt::format("{}:{}", file, spec.name));
  const std::string help = fmt::format("it has {}", fmt::join(words, ", "));
  return kernel.empty() ? user_error(fmt::format("{} has {} kernels", file, kernels->size()), help)
                        : user_error(fmt::format("{} has no kernel `{}`", file, kernel), help);
}

}  // namespace palladion::kernels
