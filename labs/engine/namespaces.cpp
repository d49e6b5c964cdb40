#include "labs/engine/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "labs/engine/system_file.h"

namespace palladion::labs {
namespace {

// Who is not root gets the other namespaces inside of one of users, as the same user.
bool own_users() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  write_to(AT_FDCWD, "/proc/self/setgroups", "deny");
  return write_to(AT_FDCWD, "/proc/self/uid_map", fmt::format("{0} {0} 1", user)) &&
         write_to(AT_FDCWD, "/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

struct MountAttributes {  // of mount_setattr (Linux 5.12), which glibc 2.31 does not state
  uint64_t set = 0, clear = 0, propagation = 0, users = 0;
};
constexpr uint64_t read_only = 1;
constexpr long mount_setattr_call = 442;

bool set_attributes(const char* path, unsigned flags, const MountAttributes& attributes) {
  return ::syscall(mount_setattr_call, AT_FDCWD, path, flags, &attributes, sizeof attributes) == 0;
}

bool own_mounts(const Limits& limits) {
  constexpr unsigned recursive = 0x8000;  // AT_RECURSIVE
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return false;
  for (const auto& folder : limits.writable)
    if (::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
  if (!set_attributes("/", recursive, {.set = read_only})) return false;
  for (const auto& folder : limits.writable)
    if (!set_attributes(folder.c_str(), 0, {.clear = read_only})) return false;
  return true;
}

}  // namespace

Confined own_namespaces(const Limits& limits) {
  Confined held;
  bool processes = ::unshare(CLONE_NEWPID) == 0;
  if (!processes && own_users()) {
    held.emplace_back("users");
    processes = ::unshare(CLONE_NEWPID) == 0;
  }
  if (processes) held.emplace_back("processes");
  if (limits.is_ours) return held;
  if (::unshare(CLONE_NEWNET) == 0 && ::unshare(CLONE_NEWIPC) == 0) held.emplace_back("network");
  if (own_mounts(limits)) held.emplace_back("mounts");
  return held;
}

}  // namespace palladion::labs
