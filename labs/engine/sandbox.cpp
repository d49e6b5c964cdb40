#include "labs/engine/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;

#ifdef PLD_SANITIZED
constexpr bool is_sanitized =
    true;  // shadow memory is terabytes of address space, and needs calls of its own
#else
constexpr bool is_sanitized = false;
#endif

void limit(int resource, uint64_t most, uint64_t hard) {
  const rlimit both{most, hard};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}
void limit(int resource, uint64_t most) { limit(resource, most, most); }

// Rights of Landlock's first version (Linux 5.13), the only ones that its header is sure to have.
constexpr uint64_t read_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t all_rights = read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t rights_of_files =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr uint64_t truncate_right = uint64_t{1} << 14;  // LANDLOCK_ACCESS_FS_TRUNCATE, of version 3
constexpr uint64_t write_rights = all_rights | truncate_right;

class Rules {
 public:
  Rules() {
    const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return;
    handled_ = all_rights | (version >= 3 ? truncate_right : 0);
    const landlock_ruleset_attr attributes{.handled_access_fs = handled_};
    rules_ = int(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  }
  ~Rules() {
    if (rules_ >= 0) ::close(rules_);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // A path that does not exist needs no rule.
  void allow(const fs::path& path, uint64_t rights, int flags = 0) const {
    const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC | flags);
    if (file < 0) return;
    struct stat about{};
    ::fstat(file, &about);
    rights &= S_ISDIR(about.st_mode) ? handled_ : handled_ & (rights_of_files | truncate_right);
    const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = file};
    ::syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    ::close(file);
  }

  bool enforce() const { return rules_ >= 0 && ::syscall(SYS_landlock_restrict_self, rules_, 0) == 0; }

 private:
  int rules_ = -1;
  uint64_t handled_ = 0;
};

// What loading a library, recording and writing to an open file need. Not here: new processes and threads,
// signals to others and handlers for one's own (the alarm), networks, tracing, mounting.
constexpr int permitted_calls[] = {
    SYS_read,         SYS_write,      SYS_writev,     SYS_close,          SYS_fstat,     SYS_newfstatat,
    SYS_stat,         SYS_lstat,      SYS_statx,      SYS_openat,         SYS_open,      SYS_lseek,
    SYS_pread64,      SYS_readlink,   SYS_readlinkat, SYS_access,         SYS_faccessat, SYS_faccessat2,
    SYS_getcwd,       SYS_getdents64, SYS_mmap,       SYS_munmap,         SYS_mprotect,  SYS_mremap,
    SYS_madvise,      SYS_brk,        SYS_futex,      SYS_sched_yield,    SYS_getrandom, SYS_clock_gettime,
    SYS_gettimeofday, SYS_getpid,     SYS_gettid,     SYS_rt_sigreturn,   SYS_exit,      SYS_exit_group,
    SYS_getrusage,    SYS_sysinfo,    SYS_uname,      SYS_set_robust_list};

// What a compiler, an assembler and a linker do not need either.
constexpr int refused_calls[] = {SYS_socket,
                                 SYS_socketpair,
                                 SYS_connect,
                                 SYS_bind,
                                 SYS_listen,
                                 SYS_accept,
                                 SYS_accept4,
                                 SYS_ptrace,
                                 SYS_mount,
                                 SYS_umount2,
                                 SYS_pivot_root,
                                 SYS_chroot,
                                 SYS_unshare,
                                 SYS_setns,
                                 SYS_setsid,
                                 SYS_setpgid,
                                 SYS_mknod,
                                 SYS_mknodat,
                                 SYS_symlink,
                                 SYS_symlinkat,
                                 SYS_link,
                                 SYS_linkat,
                                 SYS_bpf,
                                 SYS_perf_event_open,
                                 SYS_userfaultfd,
                                 SYS_keyctl,
                                 SYS_add_key,
                                 SYS_request_key,
                                 SYS_init_module,
                                 SYS_finit_module,
                                 SYS_kexec_load,
                                 SYS_open_by_handle_at,
                                 SYS_io_uring_setup,
                                 SYS_io_uring_enter,
                                 SYS_process_vm_readv,
                                 SYS_process_vm_writev,
                                 SYS_setuid,
                                 SYS_setgid,
                                 SYS_setresuid,
                                 SYS_setresgid,
                                 SYS_setxattr,
                                 SYS_lsetxattr,
                                 SYS_fsetxattr,
                                 SYS_shmget,
                                 SYS_msgget,
                                 SYS_semget,
                                 SYS_mq_open,
                                 SYS_quotactl,
                                 SYS_reboot,
                                 SYS_swapon,
                                 SYS_sethostname,
                                 SYS_settimeofday};

constexpr unsigned no_permission = SECCOMP_RET_ERRNO | 1;  // EPERM

// Those that are listed are permitted, and no other; or refused.
bool filter_calls(std::span<const int> listed, bool permits) {
  constexpr uint32_t first_of_x32 = 0x40000000;
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_of_x32, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, no_permission),
  };
  for (const int call : listed) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, permits ? SECCOMP_RET_ALLOW : no_permission));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, permits ? no_permission : SECCOMP_RET_ALLOW));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Of a root's privileges one stays, to read the file of a learner: Landlock bounds it.
void drop_privileges() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct both[2] = {};
  if (::syscall(SYS_capget, &header, both) != 0) return;
  const uint32_t kept = both[0].permitted & (1U << CAP_DAC_READ_SEARCH);
  both[0] = {.effective = kept, .permitted = kept, .inheritable = 0};
  both[1] = {};
  ::syscall(SYS_capset, &header, both);
}

}  // namespace

std::vector<fs::path> system_folders() {
  std::vector<fs::path> out = {"/usr",       "/lib",      "/lib64",      "/bin", "/etc/ld.so.cache",
                               "/nix/store", "/dev/null", "/dev/urandom"};
  if (is_sanitized) out.emplace_back("/proc/self");
  return out;
}

bool is_enough(const Confined& held) {
  const auto holds = [&](std::string_view what) { return std::ranges::find(held, what) != held.end(); };
  return holds("paths") && (holds("calls") || is_sanitized);
}

void limit_memory(uint64_t bytes) {
  if (!is_sanitized) limit(RLIMIT_AS, bytes);
}

void limit_resources(const Limits& limits) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);  // SIGXCPU, which tells why, then SIGKILL
  if (!limits.is_ours) limit(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.memory != 0) limit_memory(limits.memory);
}

void confine(const Limits& limits, Confined& held) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit_resources(limits);
  const Rules rules;
  for (const fs::path& path : limits.readable) rules.allow(path, read_rights);
  for (const fs::path& path : limits.writable) rules.allow(path, write_rights);
  rules.allow(limits.submission, read_rights, O_NOFOLLOW);
  if (rules.enforce()) held.emplace_back("paths");
  drop_privileges();
  const bool filtered = !is_sanitized && (limits.may_start_programs ? filter_calls(refused_calls, false)
                                                                    : filter_calls(permitted_calls, true));
  if (filtered) held.emplace_back("calls");
}

bool confine_judge(const Limits& limits) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const Rules rules;
  for (const fs::path& path : limits.readable) rules.allow(path, read_rights & ~LANDLOCK_ACCESS_FS_EXECUTE);
  rules.allow(limits.submission, read_rights & ~LANDLOCK_ACCESS_FS_EXECUTE, O_NOFOLLOW);
  drop_privileges();
  std::vector<int> refused(std::begin(refused_calls), std::end(refused_calls));
  refused.insert(refused.end(), {SYS_execve, SYS_execveat});
  return rules.enforce() && (is_sanitized || filter_calls(refused, false));
}

}  // namespace palladion::labs
