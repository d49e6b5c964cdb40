#pragma once
// Tables of the functions that stand before the driver's.
#include <span>

#define PLD_EXPORT extern "C" __attribute__((visibility("default")))
#define PLD_HOOK(name) {#name, reinterpret_cast<void*>(&name)}
#define PLD_HOOK_PTSZ(name) PLD_HOOK(name), PLD_HOOK(name##_ptsz)
// cuGetProcAddress names functions without "_v2": programs since CUDA 4 mean that version.
#define PLD_HOOK_V2(name) {#name, reinterpret_cast<void*>(&name##_v2)}, PLD_HOOK(name##_v2)

namespace palladion::cuda::capture {

struct Hook {
  const char* name;  // of the symbol in libcuda.so.1
  void* function;
};

std::span<const Hook> graph_hooks();
std::span<const Hook> link_hooks();
// cuGetProcAddress has one name for several forms of a function, and the program's CUDA version chooses:
// 12000 and later mean another one than before. The symbol; the name itself for other functions.
const char* symbol_of_graph_call(const char* name, int version);

}  // namespace palladion::cuda::capture
