#include "cuda/driver/state.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "cuda/driver/reporting.h"

namespace palladion::cuda::driver {

namespace {

// Memory of this process. What is not of the device is the host's.
bool is_mapped(sim::Address address) {
  constexpr uint64_t page = 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(page - 1)), page, &resident) == 0;
}

// "FILE:INODE:PROCESS"
Settings::Report pipe_of(std::string_view text) {
  Settings::Report r;
  const std::string words(text);
  unsigned long long inode = 0;
  if (std::sscanf(words.c_str(), "%d:%llu:%d", &r.file, &inode, &r.process) != 3) return {};
  r.inode = inode;
  return r;
}

}  // namespace

Settings settings_of(const char* text) {
  Settings s;
  if (text == nullptr) return s;
  std::string_view rest = text;
  const auto number = [](std::string_view word, auto& into) {
    std::from_chars(word.data(), word.data() + word.size(), into);
  };
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (key == "arch") s.arch = value;
    if (key == "schedule") s.schedule = value;
    if (key == "check") s.check = value;
    if (key == "schedules") s.schedules = value;
    if (key == "threads") number(value, s.threads);
    if (key == "max") number(value, s.max_instructions);
    if (key == "report") s.report = pipe_of(value);
    if (key == "fmad") s.fmad = value != "0";
  }
  return s;
}

State::State() : settings(settings_of(std::getenv("PALLADION_EXEC"))) {
  arch = isa::find_arch(settings.arch);
  if (arch == nullptr) arch = &isa::default_arch();
  machine = std::make_unique<sim::Machine>(*arch);
  machine->memory().know_host(is_mapped);
}

// Never destroyed: the program's own runtime library calls us while the process ends.
State& state() {
  static auto* const all = new State;
  return *all;
}

Block* State::block_of(Pointer p) {
  auto after = blocks.upper_bound(p);
  if (after == blocks.begin()) return nullptr;
  Block& b = std::prev(after)->second;
  return p < b.base + std::max<size_t>(b.size, 1) ? &b : nullptr;
}

uint64_t count_missing(const std::string& what) {
  State& s = state();
  const auto [at, added] = s.missing.try_emplace(what, Missing{static_cast<uint32_t>(s.missing.size()), 0});
  const uint64_t before = at->second.count++;
  report_unsupported(what, at->second);
  return before;
}

Status usable() {
  const State& s = state();
  if (!s.initialised) return not_initialized;
  if (s.sticky != success) return s.sticky;
  return of_current();
}

Status unsupported(const std::string& what) {
  State& s = state();
  const Guard guard(s.lock);
  if (count_missing(what) == 0) fmt::print(stderr, "palladion exec: unsupported: {}\n", what);
  return not_supported;
}

void show_printed() {
  State& s = state();
  const Guard guard(s.lock);
  if (s.printed.empty()) return;
  std::fwrite(s.printed.data(), 1, s.printed.size(), stdout);
  s.printed.clear();
}

void count_errors(uint64_t n) {
  if (n == 0) return;
  state().errors += n;
  report_errors(state());
}

void forbid_use_by_forked_processes() {
  ::pthread_atfork(nullptr, nullptr, [] {
    State& s = state();
    new (&s.lock) std::recursive_mutex;  // another thread of the parent may have held it
    s.forked = true;
    s.sticky = not_initialized;
  });
}

namespace {

// What is over by itself, unless another thread is in a kernel: that one ends with the process, as on a GPU.
__attribute__((destructor)) void at_end() {
  State& s = state();
  if (!s.initialised || s.forked || !s.lock.try_lock()) return;
  end_all_operations();
  show_printed();
  std::fflush(stdout);
  s.lock.unlock();
}

}  // namespace

}  // namespace palladion::cuda::driver

PLD_CUDA palladion_exec_unsupported(const char* what) { return palladion::cuda::driver::unsupported(what); }
