// A program that ends in the way that its first word names, behind (or while) it launches kernels. `ends WAY fault`
// has made an illegal access before.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr int wrong = 99;

__global__ void first(int* p) { atomicAdd(p, 1); }
__global__ void late(int* p) { atomicAdd(p, 1); }
__global__ void second_image(int* p) { atomicAdd(p, 1); }
__global__ void faults(int* p) { p[1LL << 40] = 1; }
__global__ void takes_long(int* p) {
  unsigned x = *p;
  for (unsigned i = 0; i < 1u << 31; ++i) x = x * 1664525 + 1013904223;
  *p = x;
}
// What a host thread keeps for tensor cores is used: products of zeros.
__global__ void product(int* p) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) unsigned char tile[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = 0;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4];
  const unsigned long long desc =
      ((static_cast<unsigned>(__cvta_generic_to_shared(tile)) & 0x3ffff) >> 4) | 8ull << 16 | 16ull << 32;
  asm volatile(
      "{.reg .pred p;\nsetp.ne.b32 p, 0, 0;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, p, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;}"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(desc)
      : "memory");
  if (threadIdx.x == 0 && d[0] == 0) atomicAdd(p, 1);
#endif
}

int* word = nullptr;
const char* way = "";
bool is(const char* name) { return std::strcmp(way, name) == 0; }

bool count(void (*kernel)(int*), int threads = 1) {
  int before = 0, after = 0;
  if (cudaMemcpy(&before, word, 4, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  kernel<<<1, threads>>>(word);
  if (cudaMemcpy(&after, word, 4, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  return after == before + 1;
}
void launch_late() {
  if (!count(late)) _exit(wrong);
}
void multiply_late() {
  if (!count(product, 128)) _exit(wrong);
}

struct Global {
  ~Global() {
    if (is("global_destructor")) launch_late();
    if (is("global_destructor_multiplies") || is("exit_in_thread")) multiply_late();
  }
} global;
struct OfThread {
  bool used = false;
  ~OfThread() {
    if (used) multiply_late();
  }
};
thread_local OfThread of_thread;
__attribute__((destructor)) void at_unloading() {
  if (is("library_destructor")) launch_late();
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
void by_signal(int signal) {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  raise(signal);
}
int end_with_child(const std::function<int()>& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : wrong;
}
// Every call gives the error of a process that was forked behind the initialisation.
int child_has_no_device() {
  int n = 0;
  void* p = nullptr;
  cudaStream_t stream;
  late<<<1, 1>>>(word);
  const bool refused = cudaGetLastError() == cudaErrorInitializationError &&
                       cudaMalloc(&p, 4) == cudaErrorInitializationError &&
                       cudaGetDeviceCount(&n) == cudaErrorInitializationError &&
                       cudaStreamCreate(&stream) == cudaErrorInitializationError &&
                       cudaMemset(word, 0, 4) == cudaErrorInitializationError &&
                       cudaFree(word) == cudaErrorInitializationError &&
                       cudaDeviceSynchronize() == cudaErrorInitializationError;
  return refused ? 6 : wrong;
}
void save(int) {
  sleep_ms(300);
  _exit(7);
}
void wait_for_signal() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;) pause();
}

std::map<std::string, std::function<int()>> ways(char** words) {
  const auto signalled = [](int signal) { return [signal] { return by_signal(signal), wrong; }; };
  return {
      {"return", [] { return 0; }},
      {"return_code", [] { return 5; }},
      {"exit", [] { return std::exit(4), 0; }},
      {"underscore_exit", [] { return _exit(4), 0; }},
      {"underscore_exit_0", [] { return _exit(0), 0; }},
      {"quick_exit", [] { return std::quick_exit(4), 0; }},
      {"quick_exit_0", [] { return std::quick_exit(0), 0; }},
      {"at_quick_exit", [] { return std::at_quick_exit(launch_late), std::quick_exit(0), 0; }},
      {"abort", [] { return std::abort(), 0; }},
      {"exception", []() -> int { throw std::runtime_error("not caught"); }},
      {"atexit", [] { return std::atexit(launch_late); }},
      {"atexit_multiplies", [] { return std::atexit(multiply_late); }},
      {"global_destructor", [] { return 0; }},
      {"global_destructor_multiplies", [] { return multiply_late(), 0; }},
      {"library_destructor", [] { return 0; }},
      {"thread_destructor",
       [] { return std::thread([] { of_thread.used = count(product, 128); }).join(), 0; }},
      {"main_thread_destructor", [] { return multiply_late(), of_thread.used = true, 0; }},
      {"exit_in_thread",
       [] {
         std::thread([] {
           multiply_late();
           std::exit(4);
         }).join();
         return wrong;
       }},
      {"pthread_exit",
       [] {
         std::thread([] {
           sleep_ms(100);
           launch_late();
         }).detach();
         return pthread_exit(nullptr), wrong;
       }},
      {"thread_still_launches",
       [] {
         static std::atomic<int> launched = 0;
         std::thread([] {
           for (;; ++launched) late<<<1, 1>>>(word);
         }).detach();
         while (launched < 20) sleep_ms(1);
         return 0;
       }},
      {"thread_in_kernel",
       [] {
         std::thread([] {
           takes_long<<<1, 1>>>(word);
           cudaDeviceSynchronize();
         }).detach();
         return sleep_ms(300), 4;
       }},
      {"killed_in_kernel",
       [] {
         std::thread([] { sleep_ms(300), kill(getpid(), SIGKILL); }).detach();
         takes_long<<<1, 1>>>(word);
         cudaDeviceSynchronize();
         return wrong;
       }},
      {"host_function",
       [] {
         cudaLaunchHostFunc(nullptr, [](void*) { std::exit(4); }, nullptr);
         cudaDeviceSynchronize();
         return wrong;
       }},
      {"device_reset", [] { return cudaDeviceReset() == cudaSuccess ? 0 : wrong; }},
      {"exec_true", [] { return execl("/bin/true", "true", nullptr), wrong; }},
      {"exec_false", [] { return execl("/bin/false", "false", nullptr), wrong; }},
      {"exec_itself", [=] { return execl(words[0], words[0], "second", nullptr), wrong; }},
      {"second", [] { return count(second_image) ? 4 : wrong; }},
      {"fork", [] { return end_with_child(child_has_no_device); }},
      {"fork_child_exits", [] { return end_with_child([] { return std::exit(6), 0; }); }},
      {"fork_child_is_another",
       [=] { return end_with_child([=] { return execl(words[0], words[0], "second", nullptr), wrong; }); }},
      {"closed_files",
       [] {
         for (int fd = 3; fd < 1024; ++fd) close(fd);
         return launch_late(), 4;
       }},
      {"other_files",
       [] {
         const int mine = open("/dev/null", O_RDWR);
         for (int fd = 3; fd < 64; ++fd)
           if (fd != mine) dup2(mine, fd);
         return launch_late(), 4;
       }},
      {"segv", [] { return *reinterpret_cast<volatile int*>(8); }},
      {"kill", signalled(SIGKILL)},
      {"term", signalled(SIGTERM)},
      {"int", signalled(SIGINT)},
      {"hup", signalled(SIGHUP)},
      {"quit", signalled(SIGQUIT)},
      {"fpe", signalled(SIGFPE)},
      {"ill", signalled(SIGILL)},
      {"bus", signalled(SIGBUS)},
      {"trap", signalled(SIGTRAP)},
      {"pipe", signalled(SIGPIPE)},
      {"alarm", signalled(SIGALRM)},
      {"usr1", signalled(SIGUSR1)},
      {"xfsz", signalled(SIGXFSZ)},
      {"sys", signalled(SIGSYS)},
      {"waits", [] { return wait_for_signal(), wrong; }},
      {"waits_and_saves",
       [] {
         for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(s, save);
         return wait_for_signal(), wrong;
       }},
  };
}

bool has_word() { return cudaMalloc(&word, 4) == cudaSuccess && cudaMemset(word, 0, 4) == cudaSuccess; }

}  // namespace

int main(int, char** words) {
  way = words[1];
  if (is("fork_first")) {  // each of the two has the device
    const int code = end_with_child([] { return has_word() && count(second_image) ? 0 : wrong; });
    return has_word() && count(first) ? code : wrong;
  }
  if (!has_word()) return wrong;
  if (!is("second") && !count(first)) return wrong;
  if (words[2] != nullptr) {
    faults<<<1, 1>>>(word);
    cudaDeviceSynchronize();
  }
  return ways(words).at(way)();
}
