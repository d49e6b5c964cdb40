#include "capture/recorder.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "capture/memory.h"
#include "capture/program_ptx.h"
#include "fatbin/fatbin.h"

namespace palladion::capture {
namespace {

constexpr int depth_of_pointers = 3;
constexpr uint64_t most_of_parameters = 32764;

template <class... Args>
void say(const char* format, Args... args) {
  std::fprintf(stderr, "palladion capture: ");
  std::fprintf(stderr, format, args...);
  std::fputc('\n', stderr);
}

struct KernelState {
  std::string name;
  bool matches = false;
  uint64_t launches = 0;
};

// Made on first use and never destroyed.
struct State {
  std::mutex lock, recording;
  std::unordered_map<Handle, LoadedImage> images;
  std::unordered_map<Handle, Handle> owners;
  std::unordered_map<Handle, KernelState> kernels;
  std::map<std::string, uint64_t> recorded;  // by name: a kernel may have several handles
  std::atomic<bool> graph_noted = false;
  unsigned next = 1;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t number(const char* name, uint64_t otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

std::string name_of(Handle function) {
  const char* name = nullptr;
  if (Call<Status(const char**, Handle)>::to("cuFuncGetName", &name, function) == success && name != nullptr)
    return name;
  if (Call<Status(const char**, Handle)>::to("cuKernelGetName", &name, function) == success &&
      name != nullptr)
    return name;
  return "";
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = text != nullptr ? text : name;
  std::free(text);
  return out;
}

bool name_matches(const std::string& name) {
  static regex_t* const pattern = [] {
    auto* const compiled = new regex_t;
    const bool ok = ::regcomp(compiled, settings().kernel.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
    if (!ok) say("`%s` is not a regular expression: nothing is recorded", settings().kernel.c_str());
    return ok ? compiled : nullptr;
  }();
  if (settings().kernel.empty()) return true;
  const auto matches = [&](const std::string& s) {
    return ::regexec(pattern, s.c_str(), 0, nullptr, 0) == 0;
  };
  return pattern != nullptr && (matches(name) || matches(demangled(name)));
}

// The image of which a function was made: by what the program asked for, or as the driver knows it.
const LoadedImage* image_of(Handle function) {
  auto& s = state();
  const auto by_program = [&](Handle h) -> const LoadedImage* {
    for (int steps = 0; h != nullptr && steps < 8; ++steps) {
      if (const auto found = s.images.find(h); found != s.images.end()) return &found->second;
      const auto owner = s.owners.find(h);
      h = owner == s.owners.end() ? nullptr : owner->second;
    }
    return nullptr;
  };
  const std::lock_guard guard(s.lock);
  if (const auto* image = by_program(function)) return image;
  Handle owner = nullptr;
  if (Call<Status(Handle*, Handle)>::to("cuFuncGetModule", &owner, function) == success)
    if (const auto* image = by_program(owner)) return image;
  if (Call<Status(Handle*, Handle)>::to("cuKernelGetLibrary", &owner, function) == success)
    if (const auto* image = by_program(owner)) return image;
  return nullptr;
}

bool param_info(Handle f, size_t i, size_t& offset, size_t& bytes) {
  using Info = Status(Handle, size_t, size_t*, size_t*);
  return Call<Info>::to("cuFuncGetParamInfo", f, i, &offset, &bytes) == success ||
         Call<Info>::to("cuKernelGetParamInfo", f, i, &offset, &bytes) == success;
}

std::vector<uint8_t> parameters_of(const Request& r) {
  std::vector<uint8_t> out;
  if (r.params == nullptr) {  // a buffer in `extra`: 1, address, 2, address of its size, 0
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (void** e = r.extra; e != nullptr && *e != nullptr; e += 2) {
      if (reinterpret_cast<uintptr_t>(e[0]) == 1) buffer = e[1];
      if (reinterpret_cast<uintptr_t>(e[0]) == 2) bytes = *static_cast<const size_t*>(e[1]);
    }
    const auto* first = static_cast<const uint8_t*>(buffer);
    if (buffer != nullptr && bytes <= most_of_parameters) out.assign(first, first + bytes);
    return out;
  }
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; param_info(r.function, i, offset, bytes); ++i) {
    if (offset + bytes > most_of_parameters) break;
    if (out.size() < offset + bytes) out.resize(offset + bytes);
    std::memcpy(out.data() + offset, r.params[i], bytes);
  }
  return out;
}

struct ChipFacts {
  std::string name;
  uint32_t compute = 0;  // 90
  int driver = 0;
};
ChipFacts chip_facts() {
  ChipFacts out;
  int device = 0, major = 0, minor = 0;
  char name[256] = "";
  Call<Status(int*)>::to("cuCtxGetDevice", &device);
  Call<Status(char*, int, int)>::to("cuDeviceGetName", name, sizeof name, device);
  Call<Status(int*, int, int)>::to("cuDeviceGetAttribute", &major, 75, device);
  Call<Status(int*, int, int)>::to("cuDeviceGetAttribute", &minor, 76, device);
  Call<Status(int*)>::to("cuDriverGetVersion", &out.driver);
  out.name = name;
  out.compute = static_cast<uint32_t>(major * 10 + minor);
  return out;
}

// The module's variables, at their addresses.
void add_variables(std::vector<bundle::Buffer>& buffers, const std::vector<std::string>& names,
                   Handle function) {
  Handle module = nullptr, plain = function;
  if (Call<Status(Handle*, Handle)>::to("cuFuncGetModule", &module, plain) != success) {
    if (Call<Status(Handle*, Handle)>::to("cuKernelGetFunction", &plain, function) != success) return;
    if (Call<Status(Handle*, Handle)>::to("cuFuncGetModule", &module, plain) != success) return;
  }
  for (const std::string& name : names) {
    DevicePointer address = 0;
    size_t bytes = 0;
    if (Call<Status(DevicePointer*, size_t*, Handle, const char*)>::to(
            "cuModuleGetGlobal_v2", &address, &bytes, module, name.c_str()) == success &&
        bytes != 0)
      buffers.push_back(
          {.name = name, .address = address, .bytes = bytes, .variable = true, .before = {}, .after = {}});
  }
}

std::string program_name() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path - 1);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

// A new folder for a bundle; other processes of the same program make theirs beside it.
std::string new_folder(const std::string& kernel) {
  std::string plain;
  for (const char c : demangled(kernel).substr(0, 60)) {
    if (c == '(' || c == '<') break;
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '-';
  }
  ::mkdir(settings().folder.c_str(), 0755);
  for (unsigned& n = state().next; n < 100000; ++n) {
    char number_text[16];
    std::snprintf(number_text, sizeof number_text, "%04u-", n);
    const std::string path = settings().folder + "/" + number_text + plain;
    if (::mkdir(path.c_str(), 0755) == 0) {
      ++n;
      return path;
    }
    if (errno != EEXIST) break;
  }
  return "";
}

// The bundle of a launch while it is made.
class Recording {
 public:
  explicit Recording(const Request& request) : r_(request) {}

  // False: this launch cannot be recorded, which was said.
  bool prepare() {
    m_.entry = name_of(r_.function);
    const ChipFacts chip = chip_facts();
    m_.chip = chip.name;
    m_.driver = chip.driver;
    m_.program = program_name();
    std::copy_n(r_.grid, 3, m_.grid.begin());
    std::copy_n(r_.block, 3, m_.block.begin());
    std::copy_n(r_.cluster, 3, m_.cluster.begin());
    m_.dynamic_shared = r_.dynamic_shared;
    m_.cooperative = r_.cooperative;
    m_.programmatic_serialization = r_.programmatic_serialization;
    m_.parameters = parameters_of(r_);
    find_program(chip.compute);
    add_variables(m_.buffers, ptx_.empty() ? variables_of_cubin(image_) : variables_of(ptx_), r_.function);
    add_pointed(m_.buffers, m_.parameters.data(), m_.parameters.size(), true);
    add_reachable(m_.buffers, depth_of_pointers, settings().max_bytes);
    const uint64_t bytes = bytes_of(m_.buffers);
    if (bytes > settings().max_bytes) {
      say("%s: reaches %llu bytes, more than --max-bytes %llu: not recorded", m_.entry.c_str(),
          static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(settings().max_bytes));
      return false;
    }
    return begin(bytes);
  }

  bool before() {
    const bool stored = store(m_.buffers, folder_, false);
    return write_manifest() && stored;
  }
  void after(Status launched, Status ended) {
    m_.result = launched != success ? launched : ended;
    m_.complete = m_.result == success && store(m_.buffers, folder_, true);
    write_manifest();
    if (m_.complete)
      say("%s is complete", folder_.c_str());
    else
      say("%s: the launch ended with error %d: memory after it is missing", folder_.c_str(), m_.result);
  }

 private:
  void find_program(uint32_t compute) {
    const LoadedImage* const image = image_of(r_.function);
    if (image == nullptr) return;
    if (auto found = ptx_of(*image, m_.entry, compute)) {
      ptx_ = std::move(found->text);
      m_.ptx_source = std::move(found->source);
    } else {
      image_ = cubin_of(*image, compute);
    }
  }

  // Sizes are told before anything is written.
  bool begin(uint64_t bytes) {
    say("%s, grid %u,%u,%u block %u,%u,%u: %zu buffers, %.1f MB before the launch and what it changes after "
        "it, to %s. The bundle holds the memory's contents, which may be secret.",
        demangled(m_.entry).c_str(), r_.grid[0], r_.grid[1], r_.grid[2], r_.block[0], r_.block[1],
        r_.block[2], m_.buffers.size(), static_cast<double>(bytes) * 1e-6, settings().folder.c_str());
    folder_ = new_folder(m_.entry);
    if (folder_.empty()) {
      say("no folder can be made in %s: %s", settings().folder.c_str(), std::strerror(errno));
      return false;
    }
    if (!ptx_.empty()) {
      m_.ptx_file = "kernel.ptx";
      m_.ptx_checksum = bundle::checksum(std::as_bytes(std::span(ptx_)));
      return write(m_.ptx_file, ptx_);
    }
    say("%s has no PTX: the program loaded machine code only", m_.entry.c_str());
    if (image_.empty()) return true;
    m_.image_file = "kernel.cubin";
    m_.image_checksum = bundle::checksum(std::as_bytes(std::span(image_)));
    return write(m_.image_file, image_);
  }

  bool write(const std::string& file, const std::string& text) {
    if (write_file(folder_ + "/" + file, text.data(), text.size())) return true;
    say("%s/%s cannot be written", folder_.c_str(), file.c_str());
    return false;
  }
  bool write_manifest() { return write(std::string(bundle::manifest_file), bundle::text(m_)); }

  const Request& r_;
  bundle::Manifest m_;
  std::string folder_, ptx_, image_;
};

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

// A stream of which a graph is made launches nothing.
bool makes_graph(Handle stream) {
  int status = 0;
  const Status asked = Call<Status(Handle, int*)>::to("cuStreamIsCapturing", stream, &status);
  return asked != success || status != 0;
}

}  // namespace

const Settings& settings() {
  static const auto* const s = [] {
    auto* const made = new Settings;
    made->folder = variable("PALLADION_CAPTURE_DIR");
    made->kernel = variable("PALLADION_CAPTURE_KERNEL");
    made->skip = number("PALLADION_CAPTURE_SKIP", made->skip);
    made->launches = number("PALLADION_CAPTURE_LAUNCHES", made->launches);
    made->max_bytes = number("PALLADION_CAPTURE_MAX_BYTES", made->max_bytes);
    return made;
  }();
  return *s;
}

void loaded(Handle owner, const void* image) {
  if (inside || settings().folder.empty() || image == nullptr) return;
  LoadedImage entry{.data = image, .bytes = fatbin::bytes_of(image), .copy = {}};
  Dl_info file;
  const void* const data = fatbin::image_of(image) == fatbin::Image::wrapper ? fatbin::data_of(image) : image;
  if (::dladdr(data, &file) == 0) {  // memory of the program, which may free it
    entry.bytes = fatbin::bytes_of(data);
    entry.copy.assign(static_cast<const char*>(data), entry.bytes);
  }
  auto& s = state();
  const std::lock_guard guard(s.lock);
  LoadedImage& kept = s.images[owner] = std::move(entry);
  if (!kept.copy.empty()) kept.data = kept.copy.data();
}

void loaded_file(Handle owner, const char* path) {
  if (settings().folder.empty() || path == nullptr) return;
  LoadedImage entry;
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return;
  char part[1 << 16];
  for (size_t n = 1; n != 0;) entry.copy.append(part, n = std::fread(part, 1, sizeof part, file));
  std::fclose(file);
  if (entry.copy.size() < 64) return;
  entry.copy += '\0';
  entry.bytes = entry.copy.size() - 1;
  auto& s = state();
  const std::lock_guard guard(s.lock);
  LoadedImage& kept = s.images[owner] = std::move(entry);
  kept.data = kept.copy.data();
}

void belongs(Handle part, Handle owner) {
  if (settings().folder.empty() || part == owner) return;
  auto& s = state();
  const std::lock_guard guard(s.lock);
  s.owners[part] = owner;
  s.kernels.erase(part);  // a handle may be used again for another kernel
}

bool wanted(Handle function) {
  if (settings().folder.empty()) return false;
  auto& s = state();
  const std::lock_guard guard(s.lock);
  auto [at, fresh] = s.kernels.try_emplace(function);
  KernelState& k = at->second;
  if (fresh) {
    k.name = name_of(function);
    k.matches = name_matches(k.name);
  }
  if (!k.matches) return false;
  const uint64_t n = s.recorded[k.name]++;
  return n >= settings().skip && n - settings().skip < settings().launches;
}

void note_graph_launch() {
  if (settings().folder.empty() || state().graph_noted.exchange(true)) return;
  say("the program launches CUDA graphs: their kernels are not recorded (unsupported: cuGraphLaunch)");
}

Status record(const Request& request, Status (*go)(void*), void* argument) {
  const std::lock_guard one_at_a_time(state().recording);
  const Inside guard;
  if (makes_graph(request.stream)) {
    say("%s is launched into a CUDA graph: not recorded (unsupported: stream capture)",
        name_of(request.function).c_str());
    return go(argument);
  }
  if (Call<Status()>::to("cuCtxSynchronize") != success) return go(argument);
  Recording recording(request);
  const bool recorded = recording.prepare() && recording.before();
  const Status launched = go(argument);
  if (!recorded) return launched;
  const Status ended = launched == success ? Call<Status()>::to("cuCtxSynchronize") : launched;
  recording.after(launched, ended);
  return launched;
}

}  // namespace palladion::capture
