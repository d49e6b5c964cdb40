// What nvcc's code says of a program before main: its fatbins, kernels and variables, each by the address
// that the host's code uses as its name. Nothing is loaded until it is used.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/driver/runtime/state.h"

namespace palladion::cuda::runtime {
namespace {

struct Binary {  // a fatbin, loaded when something of it is used
  const void* wrapper = nullptr;
  Library library = nullptr;
  Status status = success;
  std::vector<std::pair<std::string, void**>> managed;  // variables, and where the host keeps their addresses
  bool linked = false;                                  // those addresses are stored
};
struct Entry {  // a kernel or a variable
  Binary* binary = nullptr;
  std::string name;
  Function kernel = nullptr;
};
struct Registry {
  std::recursive_mutex lock;
  std::vector<std::unique_ptr<Binary>> binaries;
  std::map<const void*, Entry> kernels, variables;
  std::set<Function> handles;
};
Registry& registry() {
  static auto* const all = new Registry;  // used by destructors of the program
  return *all;
}
using RegistryGuard = std::lock_guard<std::recursive_mutex>;

Status load(Binary& b) {
  if (b.library == nullptr && b.status == success) {
    b.status = ready();
    if (b.status == success)
      b.status = cuLibraryLoadData(&b.library, b.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  if (b.status != success || b.linked) return b.status;
  b.linked = true;
  for (const auto& [name, place] : b.managed) {
    Pointer address = 0;
    const Status status = cuLibraryGetManaged(&address, nullptr, b.library, name.c_str());
    if (status != success) return status;
    *place = reinterpret_cast<void*>(address);
  }
  return success;
}

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

}  // namespace

Status function_of(const void* host, Function& out) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  const auto found = r.kernels.find(host);
  if (found == r.kernels.end()) {
    out = const_cast<void*>(host);
    return r.handles.contains(out) ? success : invalid_device_function;
  }
  Entry& e = found->second;
  if (e.kernel == nullptr) {
    Status status = load(*e.binary);
    if (status == success) status = cuLibraryGetKernel(&e.kernel, e.binary->library, e.name.c_str());
    if (status == driver::not_found) return invalid_device_function;
    if (status != success) return status;
    r.handles.insert(e.kernel);
  }
  out = e.kernel;
  return success;
}

void known(Function kernel) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  r.handles.insert(kernel);
}

Status symbol_of(const void* host, Pointer& address, size_t& bytes) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  const auto found = r.variables.find(host);
  if (found == r.variables.end()) return invalid_symbol;
  Entry& e = found->second;
  Status status = load(*e.binary);
  if (status == success) status = cuLibraryGetGlobal(&address, &bytes, e.binary->library, e.name.c_str());
  return status == driver::not_found ? invalid_symbol : status;
}

Status part_of_symbol(const void* host, size_t bytes, size_t offset, Pointer& address) {
  size_t all = 0;
  const Status status = symbol_of(host, address, all);
  if (status != success) return status;
  if (offset > all || bytes > all - offset) return driver::invalid_value;
  address += offset;
  return success;
}

}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;

#define PLD_REGISTERED extern "C" __attribute__((visibility("default")))

PLD_REGISTERED void** __cudaRegisterFatBinary(void* wrapper) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  r.binaries.push_back(std::make_unique<Binary>());
  r.binaries.back()->wrapper = wrapper;
  return reinterpret_cast<void**>(r.binaries.back().get());
}
PLD_REGISTERED void __cudaRegisterFatBinaryEnd(void**) {}
// The process is about to end: what was launched stays in the report.
PLD_REGISTERED void __cudaUnregisterFatBinary(void**) {}
PLD_REGISTERED void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                           void*, void*, void*, void*, int*) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  r.kernels[host] = {.binary = binary_of(handle), .name = name};
}
PLD_REGISTERED void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int,
                                      int) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  r.variables[host] = {.binary = binary_of(handle), .name = name};
}
// `host` is where the host's code keeps the address of the variable.
PLD_REGISTERED void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t,
                                             int, int) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  r.variables[static_cast<const void*>(host)] = {.binary = binary_of(handle), .name = name};
  binary_of(handle)->managed.emplace_back(name, host);
}
PLD_REGISTERED void __cudaRegisterHostVar(void**, const char* name, char*, size_t) {
  unsupported(("__cudaRegisterHostVar of " + std::string(name)).c_str());
}
// Before the host's first access to a managed variable.
PLD_REGISTERED char __cudaInitModule(void** handle) {
  Registry& r = registry();
  const RegistryGuard guard(r.lock);
  return ended(load(*binary_of(handle))) == success ? 1 : 0;
}
PLD_REGISTERED void** __cudaRegisterUnifiedTable(void**, void*) { return nullptr; }

PLD_RUNTIME __cudaGetKernel(Function* out, const void* host) { return ended(function_of(host, *out)); }
PLD_RUNTIME cudaGetKernel(Function* out, const void* host) { return ended(function_of(host, *out)); }
PLD_RUNTIME cudaGetFuncBySymbol(Function* out, const void* host) { return ended(function_of(host, *out)); }

PLD_RUNTIME cudaGetSymbolAddress(void** out, const void* symbol) {
  Pointer address = 0;
  size_t bytes = 0;
  const Status status = symbol_of(symbol, address, bytes);
  if (status == success) *out = reinterpret_cast<void*>(address);
  return ended(status);
}
PLD_RUNTIME cudaGetSymbolSize(size_t* out, const void* symbol) {
  Pointer address = 0;
  return ended(symbol_of(symbol, address, *out));
}
