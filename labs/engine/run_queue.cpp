#include "labs/engine/run_queue.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

std::optional<pid_t> number_of(const fs::path& folder) {
  const std::string name = folder.filename();
  pid_t out = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out);
  if (error != std::errc() || end != name.data() + name.size()) return {};
  return out;
}

// Calls `visit(number, folder)` for each process, or thread, of a folder of /proc.
void each_in(const fs::path& folder, auto visit) {
  std::error_code none;
  for (auto entry = fs::directory_iterator(folder, none); entry != fs::directory_iterator();
       entry.increment(none))
    if (const auto number = number_of(entry->path())) visit(*number, entry->path());
}

std::optional<pid_t> parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  if (!std::getline(file, text)) return {};
  const size_t name = text.rfind(')');  // "PID (NAME) STATE PARENT ..."
  if (name == std::string::npos || text.size() < name + 4) return {};
  return std::atoi(text.c_str() + name + 4);
}

}  // namespace

std::vector<pid_t> descendants(pid_t ancestor) {
  std::error_code none;
  if (fs::read_symlink("/proc/self", none) != std::to_string(::getpid())) return {};
  std::multimap<pid_t, pid_t> children;
  each_in("/proc", [&](pid_t process, const fs::path& folder) {
    if (const auto parent = parent_of(folder)) children.emplace(*parent, process);
  });
  std::vector<pid_t> out{ancestor};
  for (size_t i = 0; i < out.size(); ++i)
    for (auto [at, end] = children.equal_range(out[i]); at != end; ++at) out.push_back(at->second);
  out.erase(out.begin());
  return out;
}

nanoseconds RunQueue::waited() {
  nanoseconds longest{};
  std::map<pid_t, nanoseconds> now;
  auto processes = descendants(first_);
  processes.push_back(first_);
  for (const pid_t process : processes)
    each_in(fs::path("/proc") / std::to_string(process) / "task", [&](pid_t thread, const fs::path& folder) {
      std::ifstream file(folder / "schedstat");
      int64_t ran = 0, queued = 0;
      if (!(file >> ran >> queued)) return;
      now[thread] = nanoseconds(queued);
      longest = std::max(longest, nanoseconds(queued) - of_threads_[thread]);
    });
  of_threads_ = std::move(now);
  return longest;
}

}  // namespace palladion::labs
