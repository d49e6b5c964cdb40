// Before any constructor of the program: where it, or a library that it was linked with, contains a copy of
// NVIDIA's runtime library (libcudart_static, which nvcc links), each of that copy's functions becomes a jump
// to ours of the same name. Only this process' memory changes, no file.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/driver/preload/elf_file.h"
#include "cuda/driver/preload/folder.h"

namespace palladion::cuda::preload {
namespace {

constexpr std::string_view first_call = "__cudaRegisterFatBinary";
constexpr int not_supported_exit = 3;

struct Object {
  std::string path;
  uintptr_t base = 0;
  bool program = false;
};

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "palladion exec: unsupported: %s\n", why.c_str());
  ::_exit(not_supported_exit);
}

// The program and the libraries that it was linked with.
std::vector<Object> loaded_objects() {
  std::vector<Object> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& objects = *static_cast<std::vector<Object>*>(out);
        const bool program = objects.empty();
        const char* const path = program ? "/proc/self/exe" : info->dlpi_name;
        if (*path == '/') objects.push_back({path, info->dlpi_addr, program});
        return 0;
      },
      &all);
  return all;
}

bool is_function(const Elf64_Sym& s) {
  return ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_value != 0;
}

bool defines_runtime(const ElfFile& file) {
  bool found = false;
  file.for_each_symbol(SHT_SYMTAB, [&](std::string_view name, const Elf64_Sym& s) {
    found = found || (name == first_call && is_function(s));
  });
  return found;
}

// A program of a .cu file that neither names the runtime library's functions nor takes them from a library.
bool is_stripped_with_runtime(const ElfFile& file) {
  if (file.for_each_symbol(SHT_SYMTAB, [](std::string_view, const Elf64_Sym&) {})) return false;
  if (!file.has_section(".nvFatBinSegment")) return false;
  bool shared = false;
  file.for_each_symbol(
      SHT_DYNSYM, [&](std::string_view name, const Elf64_Sym&) { shared = shared || name == first_call; });
  return !shared;
}

// mov r11, target; jmp r11: a register that no call keeps.
bool write_jump(uintptr_t at, const void* target) {
  unsigned char jump[] = {0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xFF, 0xE3};
  const auto address = reinterpret_cast<uintptr_t>(target);
  std::memcpy(jump + 2, &address, sizeof address);
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = at / page * page, end = (at + sizeof jump + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  if (::mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(at), jump, sizeof jump);
  return ::mprotect(pages, end - first, PROT_READ | PROT_EXEC) == 0;
}
constexpr size_t jump_bytes = 13, function_alignment = 16;

void redirect(const Object& object, const ElfFile& file, void* runtime) {
  file.for_each_symbol(SHT_SYMTAB, [&](std::string_view name, const Elf64_Sym& s) {
    if (!is_function(s) || (!name.starts_with("cuda") && !name.starts_with("__cuda"))) return;
    const std::string text(name);
    const void* const ours = ::dlsym(runtime, text.c_str());
    if (ours == nullptr) return;  // the program's own, or of a later runtime library
    // What follows a function up to its alignment is never executed.
    const size_t end =
        (s.st_value + s.st_size + function_alignment - 1) / function_alignment * function_alignment;
    if (end - s.st_value < jump_bytes)
      refuse(text + " of this program's runtime library is too short to redirect");
    if (!write_jump(object.base + s.st_value, ours))
      refuse(std::string("this system does not let a process change its own code: ") + std::strerror(errno) +
             ": link with -cudart shared");
  });
}

// We are before the C library's own start, and dlopen starts it with the environment and the name that it
// knows by then: without these lines the program would have none.
void give_environment(char** arguments, char** environment) {
  ::environ = environment;
  if (arguments[0] == nullptr) return;
  char* const slash = std::strrchr(arguments[0], '/');
  ::program_invocation_name = arguments[0];
  ::program_invocation_short_name = slash != nullptr ? slash + 1 : arguments[0];
}

__attribute__((constructor)) void before_the_program(int, char** arguments, char** environment) {
  give_environment(arguments, environment);
  void* runtime = nullptr;
  const std::string folder = own_folder();
  for (const Object& object : loaded_objects()) {
    if (object.path.starts_with(folder + "/")) continue;
    const ElfFile file(object.path.c_str());
    if (!file.valid()) continue;
    if (object.program && is_stripped_with_runtime(file))
      refuse(
          "a stripped program that contains the CUDA runtime library: exec finds its functions by the symbol "
          "table. Do not strip it, or link it with -cudart shared");
    if (!defines_runtime(file)) continue;
    if (runtime == nullptr) runtime = ::dlopen((folder + "/libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (runtime == nullptr) refuse(::dlerror());
    redirect(object, file, runtime);
  }
}

}  // namespace

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

}  // namespace palladion::cuda::preload
