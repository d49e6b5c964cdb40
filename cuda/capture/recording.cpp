#include "cuda/capture/recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cuda/capture/loaded.h"
#include "cuda/capture/say.h"

namespace palladion::cuda::capture {
namespace {

constexpr int depth_of_pointers = 3;
constexpr uint64_t most_of_parameters = 32764;

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
  static unsigned n = 1;  // one recording at a time
  for (; n < 100000; ++n) {
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

}  // namespace

void Recording::describe_launch() {
  m_.entry = name_of(r_.function);
  m_.program = program_name();
  std::copy_n(r_.grid, 3, m_.grid.begin());
  std::copy_n(r_.block, 3, m_.block.begin());
  std::copy_n(r_.cluster, 3, m_.cluster.begin());
  m_.dynamic_shared = r_.dynamic_shared;
  m_.cooperative = r_.cooperative;
  m_.programmatic_serialization = r_.programmatic_serialization;
  m_.parameters = parameters_of(r_);
}

void Recording::find_program(uint32_t compute) {
  const LoadedImage* const image = image_of(r_.function);
  if (image == nullptr) return;
  if (auto found = ptx_of(*image, m_.entry, compute)) {
    ptx_ = std::move(found->text);
    m_.ptx_source = std::move(found->source);
    linked_ = std::move(found->linked);
  } else {
    image_ = cubin_of(*image, compute);
  }
}

void Recording::find_memory() {
  Reached reached;
  std::vector<std::string> names = ptx_.empty() ? variables_of_cubin(image_) : variables_of(ptx_);
  for (const std::string& text : linked_)
    for (std::string& name : variables_of(text))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  add_variables(reached.buffers, names, r_.function);
  reached.add(m_.parameters.data(), m_.parameters.size(), true);
  reached.follow(depth_of_pointers, settings().max_bytes);
  m_.buffers = std::move(reached.buffers);
  arrays_.describe(reached.objects, m_);
}

bool Recording::prepare() {
  const ChipFacts chip = chip_facts();
  m_.chip = chip.name;
  m_.driver = chip.driver;
  describe_launch();
  find_program(chip.compute);
  find_memory();
  uint64_t bytes = 0;
  for (const bundle::Buffer& b : m_.buffers) bytes += b.bytes;
  for (const bundle::TexelArray& a : m_.arrays) bytes += bundle::bytes_of(a);
  if (bytes > settings().max_bytes) {
    say_code("unsupported", Code::too_much_memory,
             "%s: reaches at least %llu bytes, more than --max-bytes %llu: not recorded", m_.entry.c_str(),
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(settings().max_bytes));
    return false;
  }
  tell(bytes);
  return begin();
}

void Recording::tell(uint64_t bytes) const {
  std::string textures;
  if (!m_.objects.empty())
    textures = ", " + std::to_string(m_.objects.size()) + " texture and surface objects with " +
               std::to_string(m_.arrays.size()) + " CUDA arrays";
  say("%s, grid %u,%u,%u block %u,%u,%u: %zu buffers%s, %.1f MB before the launch and what it changes after "
      "it, to %s. %s",
      demangled(m_.entry).c_str(), r_.grid[0], r_.grid[1], r_.grid[2], r_.block[0], r_.block[1], r_.block[2],
      m_.buffers.size(), textures.c_str(), static_cast<double>(bytes) * 1e-6, settings().folder.c_str(),
      settings().strip ? "--strip: seeds stand for the memory's contents, which are not written."
                       : "The bundle holds the memory's contents, which may be secret.");
  for (const bundle::Object& o : m_.objects)
    if (o.resource == bundle::Object::Resource::unsupported)
      say_code("unsupported", Code::unrecorded_texture, "%s object 0x%llx is not recorded: %s",
               o.kind == ObjectKind::texture ? "texture" : "surface",
               static_cast<unsigned long long>(o.handle), o.reason.c_str());
}

bool Recording::begin() {
  folder_ = new_folder(m_.entry);
  if (folder_.empty()) {
    say_code("error", Code::unwritable_bundle, "no folder can be made in %s: %s", settings().folder.c_str(),
             std::strerror(errno));
    return false;
  }
  if (!ptx_.empty()) {
    m_.ptx_file = "kernel.ptx";
    m_.ptx_checksum = bundle::checksum(std::as_bytes(std::span(ptx_)));
    bool whole = write(m_.ptx_file, ptx_);
    for (const std::string& text : linked_) {
      m_.linked.push_back({"linked" + std::to_string(m_.linked.size()) + ".ptx",
                           bundle::checksum(std::as_bytes(std::span(text)))});
      whole = write(m_.linked.back().file, text) && whole;
    }
    return whole;
  }
  say_code("warning", Code::no_ptx, "%s has no PTX: the program loaded machine code only", m_.entry.c_str());
  if (image_.empty()) return true;
  m_.image_file = "kernel.cubin";
  m_.image_checksum = bundle::checksum(std::as_bytes(std::span(image_)));
  return write(m_.image_file, image_);
}

bool Recording::before() {
  const bool buffers = store(m_.buffers, folder_, false);
  const bool arrays = arrays_.store(m_, folder_, false);
  return write_manifest() && buffers && arrays;
}

void Recording::after(Status launched, Status ended) {
  m_.result = launched != success ? launched : ended;
  if (settings().strip && m_.result == success) {
    write_manifest();
    return say("%s is complete, stripped", folder_.c_str());
  }
  m_.complete = m_.result == success && store(m_.buffers, folder_, true) && arrays_.store(m_, folder_, true);
  write_manifest();
  if (m_.complete)
    say("%s is complete", folder_.c_str());
  else if (launched != success)
    say_code("error", Code::failed_launch, "%s: the driver refused the launch with error %d: nothing ran",
             folder_.c_str(), launched);
  else
    say_code("error", Code::failed_launch, "%s: the launch ended with error %d: memory after it is missing",
             folder_.c_str(), m_.result);
}

bool Recording::write(const std::string& file, const std::string& text) {
  if (write_file(folder_ + "/" + file, text.data(), text.size())) return true;
  say_code("error", Code::unwritable_bundle, "%s/%s cannot be written", folder_.c_str(), file.c_str());
  return false;
}

// What it names is on the disk before it is, and its own name before the program goes on.
bool Recording::write_manifest() {
  sync_folder(folder_);
  const bool whole = write(std::string(bundle::manifest_file), bundle::text(m_));
  sync_folder(folder_);
  return whole;
}

}  // namespace palladion::cuda::capture
