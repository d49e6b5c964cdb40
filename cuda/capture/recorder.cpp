#include "cuda/capture/recorder.h"

#include <regex.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cuda/capture/loaded.h"
#include "cuda/capture/recording.h"
#include "cuda/capture/say.h"

namespace palladion::cuda::capture {
namespace {

struct KernelState {
  std::string name;
  bool matches = false;
};

// Made on first use and never destroyed.
struct State {
  std::mutex lock, recording;
  std::unordered_map<Handle, KernelState> kernels;
  std::map<std::string, uint64_t> launches;  // by name: a kernel may have several handles
};
State& state() {
  static auto* const s = new State;
  return *s;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t number(const char* name, uint64_t otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

bool name_matches(const std::string& name) {
  static regex_t* const pattern = [] {
    auto* const compiled = new regex_t;
    const bool ok = ::regcomp(compiled, settings().kernel.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
    if (!ok)
      say_code("error", Code::bad_expression, "`%s` is not a regular expression: nothing is recorded",
               settings().kernel.c_str());
    return ok ? compiled : nullptr;
  }();
  if (settings().kernel.empty()) return true;
  const auto matches = [&](const std::string& s) {
    return ::regexec(pattern, s.c_str(), 0, nullptr, 0) == 0;
  };
  return pattern != nullptr && (matches(name) || matches(demangled(name)));
}

// The caller holds the lock.
KernelState& kernel_of(Handle function) {
  auto [at, fresh] = state().kernels.try_emplace(function);
  if (fresh) {
    at->second.name = name_of(function);
    at->second.matches = name_matches(at->second.name);
  }
  return at->second;
}

bool in_window(uint64_t launch) {
  return launch >= settings().skip && launch - settings().skip < settings().launches;
}

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

}  // namespace

const Settings& settings() {
  static const auto* const s = [] {
    auto* const made = new Settings;
    made->folder = variable("PALLADION_CAPTURE_DIR");
    made->kernel = variable("PALLADION_CAPTURE_KERNEL");
    made->skip = number("PALLADION_CAPTURE_SKIP", made->skip);
    made->launches = number("PALLADION_CAPTURE_LAUNCHES", made->launches);
    made->strip = !variable("PALLADION_CAPTURE_STRIP").empty();
    made->max_bytes = number("PALLADION_CAPTURE_MAX_BYTES", made->max_bytes);
    return made;
  }();
  return *s;
}

void forget(Handle function) {
  auto& s = state();
  const std::lock_guard guard(s.lock);
  s.kernels.erase(function);
}

bool makes_graph(Handle stream) {
  int status = 0;
  const Status asked = Call<Status(Handle, int*)>::to("cuStreamIsCapturing", stream, &status);
  return asked != success || status != 0;
}

bool wanted(Handle function, Handle stream) {
  if (inside || settings().folder.empty()) return false;
  auto& s = state();
  {
    const std::lock_guard guard(s.lock);
    if (!kernel_of(function).matches) return false;
  }
  if (makes_graph(stream)) return false;  // launched when the graph is
  const std::lock_guard guard(s.lock);
  return in_window(s.launches[kernel_of(function).name]++);
}

bool wants_any(const std::vector<Handle>& functions) {
  auto& s = state();
  const std::lock_guard guard(s.lock);
  std::map<std::string_view, uint64_t> ahead;
  return std::ranges::any_of(functions, [&](Handle function) {
    const KernelState& k = kernel_of(function);
    return k.matches && in_window(s.launches[k.name] + ahead[k.name]++);
  });
}

void count_launches(const std::vector<Handle>& functions) {
  auto& s = state();
  const std::lock_guard guard(s.lock);
  for (const Handle function : functions)
    if (const KernelState& k = kernel_of(function); k.matches) ++s.launches[k.name];
}

Status record(const Request& request, Status (*go)(void*), void* argument) {
  const std::lock_guard one_at_a_time(state().recording);
  const Inside guard;
  if (Call<Status()>::to("cuCtxSynchronize") != success) return go(argument);
  Recording recording(request);
  const bool recorded = recording.prepare() && recording.before();
  const Status launched = go(argument);
  if (!recorded) return launched;
  const Status ended = launched == success ? Call<Status()>::to("cuCtxSynchronize") : launched;
  recording.after(launched, ended);
  return launched;
}

}  // namespace palladion::cuda::capture
