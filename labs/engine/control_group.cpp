#include "labs/engine/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "isa/host/files.h"
#include "labs/engine/system_file.h"
#include "verify/arrays/words.h"

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "palladion-";
constexpr std::string_view controllers[] = {"memory", "pids"};

bool lists(std::string_view words, std::string_view separator, std::string_view word) {
  const auto all = split(words, separator);
  return std::ranges::find(all, word) != all.end();
}

// The folder of the group `path` in a mount of which `root` is shown.
std::optional<fs::path> shown(std::string_view mount_point, std::string_view root, std::string_view path) {
  if (root == "/") root = "";
  if (!path.starts_with(root) || path.starts_with("/..")) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return fs::path(fmt::format("{}{}", mount_point, path == "/" ? "" : path));
}

// The folder of the process' group in the hierarchy of a controller; "": that of version 2.
std::optional<fs::path> own_folder(std::string_view controller, std::string_view cgroup,
                                   std::string_view mountinfo) {
  for (const std::string_view line : split(cgroup, "\n")) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !names.empty() : !lists(names, ",", controller)) continue;
    for (const std::string_view mount : split(mountinfo, "\n")) {
      const size_t dash = mount.find(" - ");
      if (dash == std::string_view::npos) continue;
      const auto left = split(mount.substr(0, dash), " "), right = split(mount.substr(dash + 3), " ");
      if (left.size() < 5 || right.size() < 3) continue;
      const bool is_it = controller.empty() ? right[0] == "cgroup2"
                                            : right[0] == "cgroup" && lists(right[2], ",", controller);
      if (!is_it) continue;
      if (auto folder = shown(left[4], left[3], line.substr(second + 1))) return folder;
    }
  }
  return std::nullopt;
}

std::string text_of_file(const fs::path& file) {
  return host::read_text(file, host::most_of_settings).value_or("");
}

bool passes_on(const fs::path& folder, std::string_view controller) {
  std::string text = text_of_file(folder / "cgroup.subtree_control");
  if (text.ends_with('\n')) text.pop_back();
  return lists(text, " ", controller);
}

bool limit_group(int group, const ControllerPlace& place, const Limits& limits) {
  if (place.controller == "pids") return write_to(group, "pids.max", std::to_string(limits.processes));
  const std::string bytes = std::to_string(limits.memory);
  if (place.version == 1) {
    const bool limited = write_to(group, "memory.limit_in_bytes", bytes);
    write_to(group, "memory.memsw.limit_in_bytes", bytes);  // with swap, where it is counted
    return limited;
  }
  write_to(group, "memory.swap.max", "0");
  write_to(group, "memory.oom.group", "1");  // all of it ends where one of it would
  return write_to(group, "memory.max", bytes);
}

// Groups whose maker does not live any more.
void remove_left(const fs::path& folder) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const auto maker = number_in<pid_t>(name.substr(prefix.size()));
    if (maker && ::kill(*maker, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

}  // namespace

std::vector<ControllerPlace> controller_places(std::string_view cgroup, std::string_view mountinfo) {
  std::vector<ControllerPlace> out;
  const auto unified = own_folder("", cgroup, mountinfo);
  for (const std::string_view controller : controllers) {
    const std::string name(controller);
    if (auto folder = own_folder(controller, cgroup, mountinfo))
      out.push_back({name, 1, std::move(*folder)});
    else if (unified && passes_on(*unified, controller))
      out.push_back({name, 2, *unified});
    else if (unified && passes_on(unified->parent_path(), controller))
      out.push_back({name, 2, unified->parent_path()});
  }
  return out;
}

ControlGroup::ControlGroup(const Limits& limits) {
  if (limits.processes == 0) return;
  for (const ControllerPlace& place :
       controller_places(text_of_file("/proc/self/cgroup"), text_of_file("/proc/self/mountinfo")))
    make(place, limits);
}

void ControlGroup::make(const ControllerPlace& place, const Limits& limits) {
  remove_left(place.folder);
  Group made{.parent = ::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
             .controller = place.controller,
             .name = fmt::format("{}{}", prefix, ::getpid())};
  if (made.parent < 0) return;
  const bool is_new = ::mkdirat(made.parent, made.name.c_str(), 0755) == 0;
  const int group = ::openat(made.parent, made.name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (group >= 0 && limit_group(group, place, limits))
    made.processes = ::openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (group >= 0) ::close(group);
  if (made.processes >= 0) {
    groups_.push_back(std::move(made));
    return;
  }
  if (is_new) ::unlinkat(made.parent, made.name.c_str(), AT_REMOVEDIR);
  ::close(made.parent);
}

Confined ControlGroup::enter() {
  Confined held;
  for (const Group& group : groups_)
    if (::write(group.processes, "0", 1) == 1) held.push_back(group.controller);  // 0: this process
  forget();
  return held;
}

void ControlGroup::remove() {
  for (const Group& group : groups_) ::unlinkat(group.parent, group.name.c_str(), AT_REMOVEDIR);
  forget();
}

void ControlGroup::forget() {
  for (const Group& group : groups_) {
    ::close(group.processes);
    ::close(group.parent);
  }
  groups_.clear();
}

}  // namespace palladion::labs
