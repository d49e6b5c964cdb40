#include "cuda/programs/exec.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "cuda/programs/say.h"
#include "isa/host/cache.h"

namespace palladion::cuda::programs {
namespace {

namespace fs = std::filesystem;

std::string settings_text(const ExecSettings& s, const std::string& pipe) {
  return fmt::format("v1;arch={};schedule={};schedules={};check={};threads={};max={};fmad={:d};report={}",
                     s.arch, s.schedule, s.schedules, s.checks, s.threads, s.max_instructions, s.fmad, pipe);
}

// In front of what the variable holds.
void put_first(const char* variable, std::string text) {
  const char* const before = std::getenv(variable);
  if (before != nullptr && *before != '\0') text += std::string(":") + before;
  ::setenv(variable, text.c_str(), 1);
}

// Where the program keeps what it compiled: without machine code it is of no use on a GPU, and is not to be
// found there.
struct Kept {
  const char *variable, *folder;
};
constexpr Kept kept[] = {{"TRITON_CACHE_DIR", "triton"},    {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
                         {"CUPY_CACHE_DIR", "cupy"},        {"NUMBA_CACHE_DIR", "numba"},
                         {"WARP_CACHE_PATH", "warp"},       {"TILELANG_CACHE_DIR", "tilelang"},
                         {"CUTE_DSL_CACHE_DIR", "cute_dsl"}};
// What makes compilers that are within a program give machine code that carries its PTX.
constexpr std::pair<const char*, const char*> with_lines[] = {
    {"CUTE_DSL_LINEINFO", "1"},
    {"NVCC_APPEND_FLAGS", "-lineinfo"},
    // and XLA measures no times of kernels
    {"XLA_FLAGS", "--xla_gpu_generate_line_info=true --xla_gpu_autotune_level=0"}};

void set_compilers(const fs::path& folder) {
  constexpr int keep = 0;
  const char* const path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", path != nullptr ? path : "/usr/bin:/bin", folder.string()).c_str(),
           1);
  for (const auto& [variable, value] : with_lines) ::setenv(variable, value, keep);
  const auto cache = host::private_cache("exec");
  if (!cache)
    return say(
        fmt::format("warning: {}: what frameworks compile here stays in their own caches\n", cache.error()));
  for (const Kept& k : kept) ::setenv(k.variable, (*cache / k.folder).c_str(), keep);
}

}  // namespace

fs::path exec_folder() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* place : {"exec", "../lib/palladion/exec"})
    if (fs::exists(here / place / "libpalladion_exec.so", failed)) return fs::weakly_canonical(here / place);
  return {};
}

ProgramStart start_under_exec(std::vector<std::string> program, const ExecSettings& settings,
                              const fs::path& folder) {
  return {std::move(program), [settings, folder](const std::string& pipe) {
            put_first("LD_LIBRARY_PATH", folder.string());
            put_first("LD_PRELOAD", (folder / "libpalladion_exec.so").string());
            set_compilers(folder);
            if (settings.on_clock || settings.torch) put_first("PYTHONPATH", (folder / "python").string());
            if (settings.torch) ::setenv("PALLADION_TORCH", "1", 1);  // python/under_exec
            ::setenv("PALLADION_EXEC", settings_text(settings, pipe).c_str(), 1);
          }};
}

}  // namespace palladion::cuda::programs
