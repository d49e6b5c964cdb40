// Functions by name, and the tables by which NVIDIA's runtime library reaches what the public interface does
// not name. The tables are not documented: what stands here is what the runtime library was seen to ask for.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "driver/device_attributes.h"
#include "driver/state.h"

using namespace palladion::driver;

namespace {

// A function that the library lacks: the program gets one that tells its name when it is called.
constexpr size_t most_missing = 512;
std::array<std::string, most_missing> missing_names;
size_t missing_count = 0;

template <size_t I>
Status missing_call() {
  return unsupported(missing_names[I]);
}
template <size_t... I>
constexpr auto missing_table(std::index_sequence<I...>) {
  return std::array<Status (*)(), sizeof...(I)>{missing_call<I>...};
}
constexpr auto missing_calls = missing_table(std::make_index_sequence<most_missing>());

void* missing(const char* name) {
  for (size_t i = 0; i < missing_count; ++i)
    if (missing_names[i] == name) return reinterpret_cast<void*>(missing_calls[i]);
  if (missing_count == most_missing) return nullptr;
  missing_names[missing_count] = name;
  return reinterpret_cast<void*>(missing_calls[missing_count++]);
}

void* self() {
  static void* const handle = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&self), &info);
    return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  }();
  return handle;
}

// Its newest version: programs of CUDA 13 ask for these.
void* find(const char* name) {
  for (const char* version : {"_v4", "_v3", "_v2", ""})
    if (void* f = dlsym(self(), (std::string(name) + version).c_str())) return f;
  return nullptr;
}

bool traces() {
  static const bool on = std::getenv("PALLADION_EXEC_TRACE") != nullptr;
  return on;
}

// ---- the runtime library's tables ----

Status storage_put(Context* c, const void* key, void* value, void (*end)(Context*, const void*, void*)) {
  State& s = state();
  const Guard guard(s.lock);
  s.primary.storage[key] = {value, end};
  return c != nullptr || current != nullptr ? success : success;
}
Status storage_delete(Context*, const void* key) {
  State& s = state();
  const Guard guard(s.lock);
  s.primary.storage.erase(key);
  return success;
}
Status storage_get(void** value, Context*, const void* key) {
  State& s = state();
  const Guard guard(s.lock);
  const auto found = s.primary.storage.find(key);
  if (found == s.primary.storage.end()) return invalid_handle;
  return *value = found->second.first, success;
}
Status primary_context(Context** c, DeviceId device) {
  if (device != 0) return invalid_device;
  return *c = &state().primary, success;
}
void first_buffer(void** p, size_t* bytes) {
  static char buffer[1024];
  *p = buffer, *bytes = sizeof buffer;
}
void second_buffer(void** p, size_t* bytes) {
  static char buffer[16];
  *p = buffer, *bytes = sizeof buffer;
}
void nothing(uintptr_t) {}
Status context_check(Context*, uint32_t* a, const void**) { return *a = 0, success; }
uint32_t zero() { return 0; }

template <class F>
const void* entry(F* f) {
  return reinterpret_cast<const void*>(f);
}
struct Table {
  unsigned char id[16];
  const void* const* entries;
};
// Of tables whose functions serve tools that watch the runtime library: there is none.
void quiet(const void** table, size_t size) {
  for (size_t i = 1; i < size; ++i)
    if (table[i] == nullptr) table[i] = entry(zero);
}
const void* const* runtime_interface() {
  static const void* table[13] = {reinterpret_cast<void*>(sizeof(void*) * 13)};
  table[2] = entry(primary_context);
  table[7] = entry(nothing);
  return table;
}
const void* const* tools_tls() {
  static const void* table[4] = {reinterpret_cast<void*>(sizeof(void*) * 4)};
  quiet(table, 4);
  return table;
}
const void* const* tools_hooks() {
  static const void* table[7] = {reinterpret_cast<void*>(sizeof(void*) * 7)};
  table[2] = entry(first_buffer);
  table[6] = entry(second_buffer);
  quiet(table, 7);
  return table;
}
const void* const* local_storage() {
  static const void* table[4] = {};
  table[0] = entry(storage_put);
  table[1] = entry(storage_delete);
  table[2] = entry(storage_get);
  return table;
}
const void* const* context_checks() {
  static const void* table[4] = {reinterpret_cast<void*>(sizeof(void*) * 4)};
  table[2] = entry(context_check);
  table[3] = entry(zero);
  return table;
}

struct NamedTable {
  const char* id;  // as a UUID is written
  const void* const* (*table)();
};
constexpr NamedTable tables[] = {
    {"6bd5fb6c-5bf4-e74a-8987-d93912fd9df9", runtime_interface},
    {"42d85a81-23f6-cb47-8298-f6e78a3aecdc", tools_tls},
    {"a094798c-2e74-2e74-93f2-0800200c0a66", tools_hooks},
    {"c693336e-1121-df11-a8c3-68f355d89593", local_storage},
    {"263e8860-7cd2-6143-92f6-bbd5006dfa7e", context_checks},
};

// An entry that is not there tells its number when it is called.
const void* const* filled(const std::string& id, const void* const* table) {
  auto** entries = const_cast<const void**>(table);
  const auto bytes = reinterpret_cast<uintptr_t>(entries[0]);
  if (bytes % sizeof(void*) != 0 || bytes > 4096) return table;  // without its size
  for (size_t i = 1; i < bytes / sizeof(void*); ++i)
    if (entries[i] == nullptr) entries[i] = missing(fmt::format("{} [{}]", id, i).c_str());
  return table;
}

std::string text_of(const Uuid& id) {
  std::string out;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", id.bytes[i]);
  }
  return out;
}

}  // namespace

PLD_CUDA cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* status) {
  const Guard guard(state().lock);
  *out = find(name);
  if (traces()) fmt::print(stderr, "cuGetProcAddress {} {}: {}\n", name, version, *out != nullptr);
  if (*out == nullptr) *out = missing(name);
  if (status != nullptr) *status = *out != nullptr ? 0 : 1;
  return *out != nullptr ? success : not_found;
}
PLD_CUDA cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
PLD_CUDA cuGetExportTable(const void** out, const Uuid* id) {
  const std::string text = text_of(*id);
  if (traces()) fmt::print(stderr, "cuGetExportTable {}\n", text);
  for (const NamedTable& t : tables)
    if (text == t.id) return *out = filled(text, t.table()), success;
  // By a keyed digest in this table NVIDIA's runtime library recognises NVIDIA's driver. We are not that
  // driver and do not answer as if we were.
  if (text == "d4082055-bde6-704b-8d34-ba123c66e1f2")
    unsupported(
        "the CUDA runtime library (libcudart), which works above NVIDIA's driver alone: programs of the "
        "driver API run");
  return *out = nullptr, not_found;
}
