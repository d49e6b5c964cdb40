// What submissions try, one line a kind. Code of attempts is an expression that is true when it succeeded.
#pragma once

namespace palladion::hostile {

struct Kind {
  const char *name, *code;
};

// While the kernel is recorded. SECRET and FOLDER stand for a file and its folder, readable for everybody.
constexpr Kind attempts[] = {
    {"read the list of users", R"(can_read("/etc/passwd"))"},
    {"read the passwords", R"(can_read("/etc/shadow"))"},
    {"read another student's file", R"(can_read("FOLDER/alice/tail.cpp"))"},
    {"read a file that is open to all", R"(can_read("SECRET"))"},
    {"read the machine's name", R"(can_read("/etc/hostname"))"},
    {"read its environment", R"(can_read("/proc/self/environ"))"},
    {"read the environment of its parent",
     R"(can_read("/proc/" + std::to_string(::getppid()) + "/environ"))"},
    {"read the environment of the first process", R"(can_read("/proc/1/environ"))"},
    {"see a token of the teacher", R"(std::getenv("PLD_TEST_TOKEN") != nullptr)"},
    {"see the teacher's home", R"(std::getenv("HOME") != nullptr)"},
    {"read a file that the teacher's shell has open", R"(reads_open_file())"},
    {"list the class", R"(opendir("FOLDER") != nullptr)"},
    {"list its own folder", R"(opendir("FOLDER/mallory") != nullptr)"},
    {"list the root", R"(opendir("/") != nullptr)"},
    {"list processes", R"(opendir("/proc") != nullptr)"},
    {"write to the temporary folder", R"(can_write("/tmp/of-a-submission"))"},
    {"write beside its file", R"(can_write("FOLDER/mallory/more"))"},
    {"write to its file", R"(::open("FOLDER/mallory/tail.cpp", O_WRONLY | O_APPEND) >= 0)"},
    {"truncate its file", R"(::truncate("FOLDER/mallory/tail.cpp", 0) == 0)"},
    {"write over the secret", R"(::open("SECRET", O_WRONLY) >= 0)"},
    {"write to shared memory", R"(::shm_open("/of-a-submission", O_CREAT | O_RDWR, 0600) >= 0)"},
    {"make an anonymous file", R"(::memfd_create("x", 0) >= 0)"},
    {"remove its file", R"(::unlink("FOLDER/mallory/tail.cpp") == 0)"},
    {"rename the secret", R"(::rename("SECRET", "FOLDER/mallory/s") == 0)"},
    {"make a folder", R"(::mkdir("FOLDER/mallory/d", 0700) == 0)"},
    {"make a link", R"(::symlink("/etc/passwd", "FOLDER/mallory/l") == 0)"},
    {"make a hard link", R"(::link("SECRET", "FOLDER/mallory/h") == 0)"},
    {"make a pipe with a name", R"(::mkfifo("FOLDER/mallory/f", 0600) == 0)"},
    {"change a mode", R"(::chmod("FOLDER/mallory/tail.cpp", 0777) == 0)"},
    {"change an owner", R"(::chown("FOLDER/mallory/tail.cpp", 1, 1) == 0)"},
    {"change a date", R"(::utimes("FOLDER/mallory/tail.cpp", nullptr) == 0)"},
    {"set an attribute", R"(::setxattr("FOLDER/mallory/tail.cpp", "user.x", "y", 1, 0) == 0)"},
    {"open the terminal", R"(::open("/dev/tty", O_RDWR) >= 0)"},
    {"type into the terminal", R"(::ioctl(0, TIOCSTI, "x") == 0)"},
    {"open memory of the machine", R"(::open("/dev/mem", O_RDONLY) >= 0)"},
    {"fork", R"(::fork() >= 0)"},
    {"clone", R"(::syscall(SYS_clone, 17, 0, 0, 0, 0) >= 0)"},
    {"start a thread", R"(starts_thread())"},
    {"execute a program", R"(::execl("/bin/true", "true", nullptr) == 0)"},
    {"run a shell", R"(std::system("true") == 0)"},
    {"see its parent", R"(::kill(::getppid(), 0) == 0)"},
    {"end its group", R"(::kill(0, SIGTERM) == 0)"},
    {"end everything", R"(::kill(-1, 0) == 0)"},
    {"stop itself", R"(::raise(SIGSTOP) == 0)"},
    {"put off the limit of time", R"(::alarm(0), std::signal(SIGXCPU, SIG_IGN) != SIG_ERR)"},
    {"raise the limit of memory", R"(raises_limit())"},
    {"leave its session", R"(::setsid() >= 0)"},
    {"leave its group", R"(::setpgid(0, 0) == 0)"},
    {"outlive its parent", R"(::prctl(PR_SET_PDEATHSIG, 0) == 0)"},
    {"change its priority", R"(::setpriority(PRIO_PROCESS, 0, -5) == 0)"},
    {"become another user", R"(::setuid(1) == 0)"},
    {"open a connection", R"(::socket(AF_INET, SOCK_STREAM, 0) >= 0)"},
    {"open a local connection", R"(::socket(AF_UNIX, SOCK_STREAM, 0) >= 0)"},
    {"talk to the kernel's network", R"(::socket(AF_NETLINK, SOCK_RAW, 0) >= 0)"},
    {"trace", R"(::ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)"},
    {"read memory of its parent", R"(reads_parent())"},
    {"mount", R"(::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0)"},
    {"change its root", R"(::chroot("/usr") == 0)"},
    {"get namespaces", R"(::unshare(CLONE_NEWUSER) == 0)"},
    {"load a filter into the kernel", R"(::syscall(SYS_bpf, 0, nullptr, 0) >= 0 || errno == EFAULT)"},
    {"count events", R"(::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0) >= 0 || errno == EFAULT)"},
    {"handle its own page faults", R"(::syscall(SYS_userfaultfd, 1) >= 0)"},
    {"queue calls", R"(::syscall(SYS_io_uring_setup, 1, nullptr) >= 0 || errno == EFAULT)"},
    {"keep a key", R"(::syscall(SYS_keyctl, 0, -1, 0) >= 0)"},
    {"share memory", R"(::shmget(IPC_PRIVATE, 4096, 0600) >= 0)"},
    {"send a message", R"(::msgget(IPC_PRIVATE, 0600) >= 0)"},
};

// Files that are no honest submission; none of them passes. RIGHT is a solution.
constexpr Kind files[] = {
    {"includes another student's file", "#include \"../alice/tail.cpp\"\n"},
    {"includes another student's file by its path", "#include \"FOLDER/alice/tail.cpp\"\n"},
    {"includes what is beside it", "#include \"helper.txt\"\n"},
    {"includes the list of users", "#include \"/etc/passwd\"\nRIGHT"},
    {"includes its environment", "#include \"/proc/self/environ\"\nRIGHT"},
    {"includes a pipe", "#include \"FOLDER/pipe\"\nRIGHT"},
    {"includes an endless file", "#include \"/dev/zero\"\nRIGHT"},
    {"includes itself", "#include __FILE__\nRIGHT"},
    {"imports another student's file", "#import \"../alice/tail.cpp\"\n"},
    {"assembles another student's file", "RIGHT\nasm(\".incbin \\\"FOLDER/alice/tail.cpp\\\"\");\n"},
    {"assembles the list of users", "RIGHT\nasm(\".incbin \\\"/etc/passwd\\\"\");\n"},
    {"assembles by inclusion", "RIGHT\nasm(\".include \\\"SECRET\\\"\");\n"},
    {"quotes lines of the list of users", "#line 1 \"/etc/passwd\"\nint x = ;\n"},
    {"is larger than what may be written", "RIGHT\nchar huge[1ull << 40] = {1};\n"},
    {"compiles for ever",
     "template <int N, class T> struct S { static constexpr int v = S<N - 1, "
     "int>::v + S<N - 1, T*>::v; }; template <class T> struct S<0, T> { static "
     "constexpr int v = 1; }; int x = S<60, int>::v;\nRIGHT"},
    {"says that it passed",
     "RIGHT"
     "static const bool said = [] { for (int f = 1; f < 20; ++f) { auto n = ::write(f, "
     "\"{\\\"passed\\\":true}\\n\", 16); (void)n; } return true; }();\n"},
    {"answers without end",
     "RIGHT"
     "static const bool said = [] { static char b[1 << 20]; for (;;) for (int f = 1; f < "
     "20; ++f) { auto n = ::write(f, b, sizeof b); (void)n; } return true; }();\n"},
    {"computes for ever",
     "RIGHT static const bool never = [] { for (volatile int i = 0;; i = i + 1) {} }();\n"},
    {"waits for ever",
     "RIGHT static const bool never = [] { int w = 0; for (;;) ::syscall(202, &w, 0, 0, "
     "nullptr); return true; }();\n"},
    {"takes all memory",
     "RIGHT static const bool never = [] { for (;;) { auto* p = new char[1 << 20]; for (int "
     "i = 0; i < 1 << 20; i += 4096) p[i] = 1; } return true; }();\n"},
    {"ends without a word", "RIGHT static const bool gone = [] { ::_exit(0); return true; }();\n"},
    {"ends as a program that is right",
     "RIGHT static const bool gone = [] { std::exit(0); return true; }();\n"},
    {"aborts", "RIGHT static const bool gone = [] { std::abort(); return true; }();\n"},
    {"overflows its stack",
     "RIGHT int deep(volatile int* p) { volatile int a[4096] = {*p}; return deep(a) + a[1]; "
     "}\nstatic const int gone = [] { volatile int a = 0; return deep(&a); }();\n"},
    {"throws where nobody catches", "RIGHT static const bool gone = [] { throw 1; return true; }();\n"},
    {"is empty", ""},
    {"is no text",
     "\x7f"
     "ELF\x02\x01"},
};

}  // namespace palladion::hostile
