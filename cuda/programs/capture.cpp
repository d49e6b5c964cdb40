#include "cuda/programs/capture.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "isa/host/process.h"

namespace palladion::cuda::programs {
namespace {

namespace fs = std::filesystem;

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::optional<fs::path> capture_library() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* folder : {".", "../lib", "../lib64", "../lib/x86_64-linux-gnu"}) {
    const fs::path path = here / folder / "libpalladion_capture.so";
    if (fs::exists(path, failed)) return fs::weakly_canonical(path, failed);
  }
  return std::nullopt;
}

std::map<std::string, std::string> variables_of(const CaptureSettings& s, const fs::path& library) {
  const std::string before = value_of("LD_PRELOAD");
  std::map<std::string, std::string> out = {
      {"LD_PRELOAD", before.empty() ? library.string() : library.string() + ":" + before},
      {"PALLADION_CAPTURE_DIR", fs::absolute(s.folder).string()},
      {"PALLADION_CAPTURE_KERNEL", s.kernel},
      {"PALLADION_CAPTURE_SKIP", std::to_string(s.skip)},
      {"PALLADION_CAPTURE_LAUNCHES", std::to_string(s.launches)},
      {"PALLADION_CAPTURE_MAX_BYTES", std::to_string(s.max_bytes)}};
  if (s.strip) out["PALLADION_CAPTURE_STRIP"] = "1";
  // Programs on XLA take three quarters of the memory as one allocation, which no bundle can hold.
  for (const auto& [name, value] :
       {std::pair{"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}, {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"}})
    if (value_of(name).empty()) out[name] = value;
  return out;
}

}  // namespace

host::Outcome<int> run_captured(const std::vector<std::string>& program, const CaptureSettings& settings) {
  const auto library = capture_library();
  if (!library)
    return host::unsupported("libpalladion_capture.so is not beside this program", "build it: ./dev build");
  return host::run_with(program, variables_of(settings, *library));
}

}  // namespace palladion::cuda::programs
