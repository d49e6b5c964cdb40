#include "labs/engine/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <iterator>

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;

#ifdef PLD_SANITIZED
constexpr bool is_sanitized =
    true;  // shadow memory is terabytes of address space, and needs calls of its own
#else
constexpr bool is_sanitized = false;
#endif

void limit(int resource, uint64_t most) {
  const rlimit both{most, most};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

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
  void allow(const fs::path& path, bool writes) const {
    const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    ::fstat(file, &about);
    uint64_t rights = writes ? handled_ : read_rights;
    if (!S_ISDIR(about.st_mode)) rights &= rights_of_files | truncate_right;
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

bool permit_calls() {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const int call : permitted_calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1));  // EPERM
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

std::vector<fs::path> system_folders() {
  return {"/usr", "/lib",       "/lib64",    "/bin",         "/etc/ld.so.cache", "/etc/alternatives",
          "/opt", "/nix/store", "/dev/null", "/dev/urandom", "/proc/self"};
}

void limit_memory(uint64_t bytes) {
  if (!is_sanitized) limit(RLIMIT_AS, bytes);
}

Confined confine(const Limits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.memory != 0) limit_memory(limits.memory);
  ::alarm(limits.wall_seconds);
  const Rules rules;
  for (const fs::path& path : limits.readable) rules.allow(path, false);
  for (const fs::path& path : limits.writable) rules.allow(path, true);
  Confined done;
  done.paths = rules.enforce();
  if (!limits.may_start_programs && !is_sanitized) done.calls = permit_calls();
  return done;
}

}  // namespace palladion::labs
