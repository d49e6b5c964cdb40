#pragma once
// A program that calls the driver API's library under `--check race`, in a process of its own.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cuda/driver/stand_in.h"
#include "tests/cuda/driver/library.h"
#include "tests/cuda/driver/order_kernels.h"

namespace palladion::cuda::driver {

struct OrderProgram {
  static constexpr size_t bytes = 256;  // of an array
  void* library = dlopen((driver_folder + "/libcuda.so.1").c_str(), RTLD_NOW);
  void *module = nullptr, *context = nullptr;
  bool wrong = false;

  explicit OrderProgram(bool is_wrong) : wrong(is_wrong) {
    call("cuInit", 0U);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    const std::string text = order_kernels();
    call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
  }

  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    if (const Status status = ask(name, arguments...); status != success) stop(name, status);
  }
  template <class... Arguments>
  Status ask(const char* name, Arguments... arguments) {
    auto* const f = reinterpret_cast<Status (*)(Arguments...)>(dlsym(library, name));
    if (f == nullptr) stop(name, unknown);
    return f(arguments...);
  }
  [[noreturn]] static void stop(const char* name, Status status) {
    std::fprintf(stderr, "UNEXPECTED: %s gives %d\n", name, static_cast<int>(status));
    std::fflush(stderr);
    ::_exit(3);
  }

  Pointer memory(size_t size = bytes) {
    Pointer p = 0;
    call("cuMemAlloc_v2", &p, size);
    call("cuMemsetD8_v2", p, static_cast<unsigned char>(0), size);
    synchronize();
    return p;
  }
  volatile uint32_t* pinned(size_t size = bytes) {
    void* p = nullptr;
    call("cuMemHostAlloc", &p, size, 0U);
    return static_cast<volatile uint32_t*>(p);
  }
  volatile uint32_t* managed() {
    Pointer p = 0;
    call("cuMemAllocManaged", &p, bytes, 1U);
    return reinterpret_cast<volatile uint32_t*>(p);
  }
  void* stream(unsigned flags = 1) {  // non-blocking
    void* s = nullptr;
    call("cuStreamCreate", &s, flags);
    return s;
  }
  void* event() {
    void* e = nullptr;
    call("cuEventCreate", &e, 2U);
    return e;
  }
  void record(void* e, void* s) { call("cuEventRecord", e, s); }
  void wait(void* s, void* e) { call("cuStreamWaitEvent", s, e, 0U); }
  void order(void* later, void* earlier) {  // what follows in `later` behind what is in `earlier`
    void* const e = event();
    record(e, earlier);
    wait(later, e);
  }
  void synchronize() { call("cuCtxSynchronize"); }
  void synchronize(void* s) { call("cuStreamSynchronize", s); }

  void* kernel(const char* name) {
    void* f = nullptr;
    call("cuModuleGetFunction", &f, module, name);
    return f;
  }
  Pointer variable(const char* name) {
    Pointer p = 0;
    size_t size = 0;
    call("cuModuleGetGlobal_v2", &p, &size, module, name);
    return p;
  }
  void launch(const char* name, void* s, Pointer a, Pointer b = 0, Pointer c = 0,
              std::vector<LaunchAttribute> attributes = {}) {
    LaunchConfig config{.grid = {1, 1, 1},
                        .block = {64, 1, 1},
                        .shared_bytes = 0,
                        .stream = s,
                        .attributes = attributes.data(),
                        .attribute_count = static_cast<uint32_t>(attributes.size())};
    void* params[] = {&a, &b, &c};
    call("cuLaunchKernelEx", static_cast<const LaunchConfig*>(&config), kernel(name),
         static_cast<void**>(params), static_cast<void**>(nullptr));
  }
  void launch_early(const char* name, void* s, Pointer a, Pointer b = 0) {  // programmatic
    LaunchAttribute attribute{};
    attribute.id = LaunchAttributeId::programmatic_stream_serialization;
    attribute.value.flag = 1;
    launch(name, s, a, b, 0, {attribute});
  }
  void to_host(volatile uint32_t* to, Pointer from, void* s, size_t size = bytes) {
    call("cuMemcpyDtoHAsync_v2", const_cast<uint32_t*>(to), from, size, s);
  }
  void to_device(Pointer to, volatile uint32_t* from, void* s, size_t size = bytes) {
    call("cuMemcpyHtoDAsync_v2", to, static_cast<const void*>(const_cast<uint32_t*>(from)), size, s);
  }
  void copy(Pointer to, Pointer from, void* s, size_t size = bytes) {
    call("cuMemcpyDtoDAsync_v2", to, from, size, s);
  }
  void fill(Pointer p, unsigned value, void* s, size_t size = bytes) {
    call("cuMemsetD32Async", p, value, size / 4, s);
  }
  void see(uint32_t value, uint32_t expected) {
    if (value != expected) std::fprintf(stderr, "UNEXPECTED: %u, not %u\n", value, expected);
  }
  void see_device(Pointer p, uint32_t expected) {  // element 20, when all is over
    uint32_t values[64];
    synchronize();
    call("cuMemcpyDtoH_v2", static_cast<void*>(values), p, bytes);
    see(values[20], expected);
  }
};

// What the program printed.
template <class Program>
std::string output_of(Program&& program, bool wrong, const char* settings = "v1;check=race") {
  int ends[2];
  if (pipe(ends) != 0) return "UNEXPECTED: no pipe";
  const pid_t child = fork();
  if (child == 0) {
    setenv("PALLADION_EXEC", settings, 1);
    dup2(ends[1], 2);
    close(ends[0]);
    alarm(60);
    OrderProgram p(wrong);
    program(p);
    std::exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) text += "UNEXPECTED: the program ended with status " + std::to_string(status);
  return text;
}

}  // namespace palladion::cuda::driver
