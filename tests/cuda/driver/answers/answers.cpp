#include "tests/cuda/driver/answers/answers.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace palladion::answers {

Driver::Driver(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) throw std::runtime_error(dlerror());
  void* context = nullptr;
  if (call("cuInit", 0U) != cuda::success || call("cuDevicePrimaryCtxRetain", &context, 0) != cuda::success ||
      call("cuCtxSetCurrent", context) != cuda::success)
    throw std::runtime_error("no context");
}

std::string Driver::short_name(const std::string& name) {
  const size_t version = name.rfind("_v");
  return name.substr(2, version == std::string::npos ? version : version - 2);
}

Pointer Driver::memory(size_t bytes) {
  Pointer p = 0;
  return call("cuMemAlloc_v2", &p, bytes) == cuda::success ? p : 0;
}

void* Driver::kernel(const std::string& ptx, const char* target) {
  const std::string text = std::string(".version 8.6\n.target ") + target + "\n.address_size 64\n" + ptx;
  void *module = nullptr, *function = nullptr;
  if (const Status s = call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())))
    return say("load " + std::to_string(s)), nullptr;
  if (const Status s = call("cuModuleGetFunction", &function, module, "k"))
    return say("function " + std::to_string(s)), nullptr;
  return function;
}

Status Driver::launch(void* function, cuda::LaunchConfig config, void** params) {
  const Status launched = call("cuLaunchKernelEx", static_cast<const cuda::LaunchConfig*>(&config), function,
                               params, static_cast<void**>(nullptr));
  const Status ended = call("cuCtxSynchronize");
  say("launch " + std::to_string(launched) + ", end " + std::to_string(ended));
  return launched != cuda::success ? launched : ended;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = kernel_cases();
  for (auto* const more : {launch_cases, call_cases})
    for (Case& c : more()) all.push_back(std::move(c));
  return all;
}

namespace {

[[noreturn]] void answer_in_child(const Case& asked, const char* library, int out) {
  std::string said;
  try {
    Driver driver(library);
    asked.run(driver);
    said = driver.said();
  } catch (const std::exception& e) {
    said = std::string("cannot ask: ") + e.what();
  }
  const bool whole = write(out, said.data(), said.size()) == static_cast<ssize_t>(said.size());
  _exit(whole ? 0 : 1);  // without the library's destructors: a faulted context has its own ideas of an exit
}

}  // namespace

std::string answer(const Case& asked, const char* library) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    answer_in_child(asked, library, ends[1]);
  }
  close(ends[1]);
  std::string said;
  pollfd ready{ends[0], POLLIN, 0};
  bool in_time = false;
  for (char bytes[4096]; poll(&ready, 1, 20'000) > 0;) {
    const ssize_t n = read(ends[0], bytes, sizeof bytes);
    if (n <= 0) {
      in_time = true;
      break;
    }
    said.append(bytes, static_cast<size_t>(n));
  }
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!in_time) return "no answer";
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : said;
}

}  // namespace palladion::answers
