// nvJitLink: what is linked is PTX, and becomes a cubin that carries it. NVIDIA's own library compiles LTO-IR
// to PTX.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cuda/compilers/assemble.h"
#include "cuda/compilers/library/real_library.h"
#include "cuda/fatbin/program.h"
#include "isa/arch/target.h"

namespace palladion::cuda::compilers {
namespace {

constexpr const char* library = "libnvJitLink.";

enum Result : int {
  linked = 0,
  missing_arch = 2,
  invalid_input = 3,
  ptx_compile = 4,
  internal = 6,
  null_input = 10
};
enum class Input : int {
  cubin = 1,
  ptx = 2,
  lto_ir = 3,
  fatbin = 4,
  object = 5,
  archive = 6,
  index = 7,
  any = 10
};

struct Link {
  std::vector<std::string> options;
  Options how;
  std::vector<Source> sources;
  std::vector<std::string> lto;
  std::string cubin, ptx, error;
};

bool is_ptx(std::string_view bytes) {
  return bytes.substr(0, bytes.find('\0')).find(".version") != std::string_view::npos;
}

Input kind_of(std::string_view bytes) {
  constexpr size_t machine_at = 18;
  const bool elf = bytes.starts_with("\177ELF") && bytes.size() > machine_at;
  if (elf) return static_cast<unsigned char>(bytes[machine_at]) == 190 ? Input::cubin : Input::object;
  if (bytes.starts_with("!<arch>")) return Input::archive;
  if (bytes.starts_with("P\xED\x55\xBA")) return Input::fatbin;
  return is_ptx(bytes) ? Input::ptx : Input::lto_ir;
}

int fail(Link& link, int result, const std::string& why) {
  link.error += "nvJitLink error   : " + why + '\n';
  return result;
}

int add_program(Link& link, const std::string& name, std::string_view bytes) {
  const auto chip = static_cast<uint32_t>(isa::parse_target(link.how.target).number);
  auto program = fatbin::program_in(bytes, chip);
  if (!program) return fail(link, invalid_input, name + ": " + program.error());
  for (std::string& text : program->texts) link.sources.push_back({name, std::move(text)});
  return linked;
}

// The fatbins of host objects. One without PTX for the chip is left out: nvJitLink takes of an archive what
// is needed, and the machine has the device's run-time library.
int add_host_code(Link& link, const std::string& name, std::string_view bytes) {
  constexpr std::string_view magic = "P\xED\x55\xBA";
  const auto chip = static_cast<uint32_t>(isa::parse_target(link.how.target).number);
  for (size_t at = bytes.find(magic); at != std::string_view::npos; at = bytes.find(magic, at + 1)) {
    if (bytes.size() - at < 16 || fatbin::bytes_of(bytes.data() + at) > bytes.size() - at) continue;
    auto program = fatbin::program_in(bytes.substr(at, fatbin::bytes_of(bytes.data() + at)), chip);
    if (!program || program->newer) continue;
    for (std::string& text : program->texts) link.sources.push_back({name, std::move(text)});
  }
  return linked;
}

int create(void** out, uint32_t count, const char** options) {
  if (out == nullptr) return null_input;
  auto link = std::make_unique<Link>();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view option = options[i];
    link->options.emplace_back(option);
    for (const std::string_view arch : {"-arch=", "--arch=", "-arch ", "--gpu-architecture="})
      if (option.starts_with(arch)) link->how.target = option.substr(arch.size());
    if (option == "-fma=0" || option == "-fmad=0") link->how.fmad = false;
    for (const std::string_view limit : {"-maxrregcount=", "--maxrregcount="})
      if (option.starts_with(limit)) link->how.registers = std::atoi(option.data() + limit.size());
  }
  if (isa::parse_target(link->how.target).number == 0) return missing_arch;
  *out = link.release();
  return linked;
}

int add_data(Link* link, int type, const void* data, size_t bytes, const char* called) {
  if (link == nullptr || data == nullptr) return null_input;
  const std::string_view contents(static_cast<const char*>(data), bytes);
  const std::string name = called != nullptr && *called != '\0' ? called : "application ptx input";
  Input kind = Input{type};
  if (kind == Input::any || (kind == Input::cubin && is_ptx(contents))) kind = kind_of(contents);
  switch (kind) {
    case Input::ptx:
      link->sources.push_back({name, std::string(contents.substr(0, contents.find('\0')))});
      return linked;
    case Input::cubin:
    case Input::fatbin:
      return add_program(*link, name, contents);
    case Input::object:
    case Input::archive:
      return add_host_code(*link, name, contents);
    case Input::lto_ir:
      link->lto.emplace_back(contents);
      return linked;
    default:
      return fail(*link, invalid_input, name + ": this kind of input is not known");
  }
}

int add_file(Link* link, int type, const char* path) {
  std::ifstream in(path != nullptr ? path : "", std::ios::binary);
  if (!in) return invalid_input;
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  return add_data(link, type, bytes.data(), bytes.size(), path);
}

// A text that a function gives with its size.
std::string text_by(const std::string& function, void* handle) {
  size_t bytes = 0;
  if (call_real(internal, library, function + "Size", handle, &bytes) != linked) return {};
  std::string out(bytes, '\0');
  call_real(internal, library, function, handle, out.data());
  return out.substr(0, out.find('\0'));
}

// LTO-IR becomes PTX by NVIDIA's library.
int compile_lto(Link& link) {
  std::vector<const char*> options;
  for (const std::string& o : link.options) options.push_back(o.c_str());
  for (const char* needed : {"-lto", "-ptx"})
    if (std::ranges::find(link.options, needed) == link.options.end()) options.push_back(needed);
  void* handle = nullptr;
  int result = call_real(internal, library, "nvJitLinkCreate", &handle, static_cast<uint32_t>(options.size()),
                         options.data());
  for (size_t i = 0; i < link.lto.size() && result == linked; ++i)
    result = call_real(internal, library, "nvJitLinkAddData", handle, static_cast<int>(Input::lto_ir),
                       static_cast<const void*>(link.lto[i].data()), link.lto[i].size(), "lto");
  if (result == linked) result = call_real(internal, library, "nvJitLinkComplete", handle);
  if (result == linked)
    link.sources.push_back({"LTO-IR", text_by("nvJitLinkGetLinkedPtx", handle)});
  else if (handle != nullptr)
    link.error += text_by("nvJitLinkGetErrorLog", handle);
  if (handle != nullptr) call_real(internal, library, "nvJitLinkDestroy", &handle);
  return result;
}

int complete(Link* link) {
  if (link == nullptr) return null_input;
  if (!link->lto.empty())
    if (const int result = compile_lto(*link); result != linked) return result;
  auto cubin = assemble(link->sources, link->how);
  if (!cubin) {
    link->error += text_of(cubin.error(), "ptxas") + "ptxas fatal   : Ptx assembly aborted due to errors\n";
    return ptx_compile;
  }
  link->cubin = std::move(*cubin);
  if (link->sources.size() == 1) link->ptx = link->sources.front().ptx;
  return linked;
}

int give_size(const Link* link, const std::string& text, size_t* bytes, size_t end) {
  if (link == nullptr || bytes == nullptr) return null_input;
  return *bytes = text.size() + end, linked;
}
int give(const Link* link, const std::string& text, char* out, size_t end) {
  if (link == nullptr || out == nullptr) return null_input;
  std::memcpy(out, text.c_str(), text.size() + end);
  return linked;
}

int destroy(Link** link) {
  if (link == nullptr) return null_input;
  delete *link;
  *link = nullptr;
  return linked;
}

}  // namespace
}  // namespace palladion::cuda::compilers

// The preloaded library calls these, whatever version the program's name has.
#define PLD_STAND_IN extern "C" __attribute__((visibility("default"))) int
namespace c = palladion::cuda::compilers;
PLD_STAND_IN nvJitLinkCreate(void** out, uint32_t count, const char** options) {
  return c::create(out, count, options);
}
PLD_STAND_IN nvJitLinkDestroy(c::Link** link) { return c::destroy(link); }
PLD_STAND_IN nvJitLinkAddData(c::Link* link, int type, const void* data, size_t bytes, const char* name) {
  return c::add_data(link, type, data, bytes, name);
}
PLD_STAND_IN nvJitLinkAddFile(c::Link* link, int type, const char* path) {
  return c::add_file(link, type, path);
}
PLD_STAND_IN nvJitLinkComplete(c::Link* link) { return c::complete(link); }
PLD_STAND_IN nvJitLinkGetLinkedCubinSize(c::Link* link, size_t* bytes) {
  return c::give_size(link, link->cubin, bytes, 0);
}
PLD_STAND_IN nvJitLinkGetLinkedCubin(c::Link* link, char* out) { return c::give(link, link->cubin, out, 0); }
PLD_STAND_IN nvJitLinkGetLinkedPtxSize(c::Link* link, size_t* bytes) {
  return c::give_size(link, link->ptx, bytes, 1);
}
PLD_STAND_IN nvJitLinkGetLinkedPtx(c::Link* link, char* out) { return c::give(link, link->ptx, out, 1); }
PLD_STAND_IN nvJitLinkGetErrorLogSize(c::Link* link, size_t* bytes) {
  return c::give_size(link, link->error, bytes, 1);
}
PLD_STAND_IN nvJitLinkGetErrorLog(c::Link* link, char* out) { return c::give(link, link->error, out, 1); }
PLD_STAND_IN nvJitLinkGetInfoLogSize(c::Link* link, size_t* bytes) {
  return c::give_size(link, {}, bytes, 1);
}
PLD_STAND_IN nvJitLinkGetInfoLog(c::Link* link, char* out) { return c::give(link, {}, out, 1); }
PLD_STAND_IN nvJitLinkGetLinkedLTOIRSize(c::Link*, size_t*) { return c::internal; }
PLD_STAND_IN nvJitLinkGetLinkedLTOIR(c::Link*, char*) { return c::internal; }
