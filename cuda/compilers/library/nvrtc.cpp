// NVRTC compiles CUDA C++ to PTX; its machine code is a cubin that carries that PTX. Line information is
// added, and the text of the program, which need not be in a file.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/compilers/library/real_library.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/source_text.h"

namespace palladion::cuda::compilers {
namespace {

constexpr const char* nvrtc = "libnvrtc.";
constexpr int compiled = 0, internal_error = 11;  // NVRTC_SUCCESS, NVRTC_ERROR_INTERNAL_ERROR

struct Program {
  std::string name, text;
};
struct Programs {
  std::mutex lock;
  std::map<void*, Program> all;
};
Programs& programs() {
  static auto* const p = new Programs;
  return *p;
}

Program program_of(void* handle) {
  Programs& p = programs();
  const std::lock_guard guard(p.lock);
  const auto found = p.all.find(handle);
  return found == p.all.end() ? Program() : found->second;
}

int create(void** out, const char* text, const char* name, int count, const char* const* headers,
           const char* const* names) {
  const int status =
      call_real(internal_error, nvrtc, "nvrtcCreateProgram", out, text, name, count, headers, names);
  if (status != compiled || text == nullptr) return status;
  Programs& p = programs();
  const std::lock_guard guard(p.lock);
  p.all[*out] = {name != nullptr && *name != '\0' ? name : "default_program", text};
  return status;
}

int destroy(void** handle) {
  if (handle != nullptr) {
    Programs& p = programs();
    const std::lock_guard guard(p.lock);
    p.all.erase(*handle);
  }
  return call_real(internal_error, nvrtc, "nvrtcDestroyProgram", handle);
}

int compile(void* handle, int count, const char* const* options) {
  std::vector<const char*> all(options, options + (options != nullptr ? count : 0));
  bool lines = false;
  for (const std::string_view o : all)
    lines = lines || o == "-lineinfo" || o == "--generate-line-info" || o == "-G" || o == "--device-debug";
  if (!lines) all.push_back("-lineinfo");
  return call_real(internal_error, nvrtc, "nvrtcCompileProgram", handle, static_cast<int>(all.size()),
                   all.data());
}

int ptx_of(void* handle, std::string& out) {
  size_t bytes = 0;
  int status = call_real(internal_error, nvrtc, "nvrtcGetPTXSize", handle, &bytes);
  if (status != compiled) return status;
  out.assign(bytes, '\0');
  status = call_real(internal_error, nvrtc, "nvrtcGetPTX", handle, out.data());
  out.resize(std::min(out.find('\0'), out.size()));
  const Program program = program_of(handle);
  if (!out.empty()) out = cubin::with_source(std::move(out), program.name, program.text);
  return status;
}

// Nothing where NVRTC makes none: for a virtual architecture.
int cubin_of(void* handle, std::string& out) {
  size_t bytes = 0;
  const int status = call_real(internal_error, nvrtc, "nvrtcGetCUBINSize", handle, &bytes);
  if (status != compiled || bytes == 0) return status;
  std::string ptx;
  const int made = ptx_of(handle, ptx);
  if (made == compiled) out = cubin::carry(ptx);
  return made;
}

using Get = int (*)(void*, std::string&);
int size(Get get, void* handle, size_t* bytes, size_t end) {
  std::string text;
  const int status = get(handle, text);
  if (status == compiled && bytes != nullptr) *bytes = text.empty() ? 0 : text.size() + end;
  return status;
}
int give(Get get, void* handle, char* out, size_t end) {
  std::string text;
  const int status = get(handle, text);
  if (status == compiled && out != nullptr && !text.empty())
    std::memcpy(out, text.c_str(), text.size() + end);
  return status;
}

}  // namespace
}  // namespace palladion::cuda::compilers

#define PLD_NVRTC extern "C" __attribute__((visibility("default"))) int
namespace rtc = palladion::cuda::compilers;
PLD_NVRTC nvrtcCreateProgram(void** out, const char* text, const char* name, int count,
                             const char* const* headers, const char* const* names) {
  return rtc::create(out, text, name, count, headers, names);
}
PLD_NVRTC nvrtcDestroyProgram(void** handle) { return rtc::destroy(handle); }
PLD_NVRTC nvrtcCompileProgram(void* handle, int count, const char* const* options) {
  return rtc::compile(handle, count, options);
}
PLD_NVRTC nvrtcGetPTXSize(void* handle, size_t* bytes) { return rtc::size(rtc::ptx_of, handle, bytes, 1); }
PLD_NVRTC nvrtcGetPTX(void* handle, char* out) { return rtc::give(rtc::ptx_of, handle, out, 1); }
PLD_NVRTC nvrtcGetCUBINSize(void* handle, size_t* bytes) {
  return rtc::size(rtc::cubin_of, handle, bytes, 0);
}
PLD_NVRTC nvrtcGetCUBIN(void* handle, char* out) { return rtc::give(rtc::cubin_of, handle, out, 0); }
