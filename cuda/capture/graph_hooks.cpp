// The functions of CUDA graphs that stand before the driver's: instantiation, changes, launches.
#include <cstdint>
#include <cstring>

#include "cuda/capture/graphs.h"
#include "cuda/capture/hooks.h"

using namespace palladion::cuda::capture;

// ---- instantiation -------------------------------------------------------------------------------
#define PLD_INSTANTIATE(symbol)                                                                            \
  PLD_EXPORT Status symbol(Handle* exec, Handle graph, Handle* node, char* log, size_t bytes) {            \
    const Status s =                                                                                       \
        Call<Status(Handle*, Handle, Handle*, char*, size_t)>::to(#symbol, exec, graph, node, log, bytes); \
    if (s == success) instantiated(*exec, graph);                                                          \
    return s;                                                                                              \
  }
PLD_INSTANTIATE(cuGraphInstantiate)
PLD_INSTANTIATE(cuGraphInstantiate_v2)
PLD_EXPORT Status cuGraphInstantiateWithFlags(Handle* exec, Handle graph, unsigned long long flags) {
  const Status s = Call<Status(Handle*, Handle, unsigned long long)>::to("cuGraphInstantiateWithFlags", exec,
                                                                         graph, flags);
  if (s == success) instantiated(*exec, graph);
  return s;
}
#define PLD_GRAPH_STREAMS(suffix)                                                                           \
  PLD_EXPORT Status cuGraphInstantiateWithParams##suffix(Handle* exec, Handle graph, void* params) {        \
    const Status s = Call<Status(Handle*, Handle, void*)>::to("cuGraphInstantiateWithParams" #suffix, exec, \
                                                              graph, params);                               \
    if (s == success) instantiated(*exec, graph);                                                           \
    return s;                                                                                               \
  }                                                                                                         \
  PLD_EXPORT Status cuGraphLaunch##suffix(Handle exec, Handle stream) {                                     \
    constexpr bool per_thread = sizeof #suffix > 1;                                                         \
    Status s = success;                                                                                     \
    if (launch_nodes(exec, per_thread && stream == nullptr ? per_thread_stream : stream, s)) return s;      \
    return Call<Status(Handle, Handle)>::to("cuGraphLaunch" #suffix, exec, stream);                         \
  }
namespace {
Handle const per_thread_stream = reinterpret_cast<Handle>(2);  // CU_STREAM_PER_THREAD
}
PLD_GRAPH_STREAMS()
PLD_GRAPH_STREAMS(_ptsz)
PLD_EXPORT Status cuGraphExecDestroy(Handle exec) {
  destroyed(exec);
  return Call<Status(Handle)>::to("cuGraphExecDestroy", exec);
}

// ---- changes of an executable graph --------------------------------------------------------------
PLD_EXPORT Status cuGraphExecUpdate(Handle exec, Handle graph, Handle* node, int* result) {
  const Status s =
      Call<Status(Handle, Handle, Handle*, int*)>::to("cuGraphExecUpdate", exec, graph, node, result);
  if (s == success) instantiated(exec, graph);
  return s;
}
PLD_EXPORT Status cuGraphExecUpdate_v2(Handle exec, Handle graph, void* result) {
  const Status s = Call<Status(Handle, Handle, void*)>::to("cuGraphExecUpdate_v2", exec, graph, result);
  if (s == success) instantiated(exec, graph);
  return s;
}
PLD_EXPORT Status cuGraphNodeSetEnabled(Handle exec, Handle node, unsigned on) {
  const Status s = Call<Status(Handle, Handle, unsigned)>::to("cuGraphNodeSetEnabled", exec, node, on);
  if (s == success) enabled(exec, node, on != 0);
  return s;
}

namespace {

// The node of the clone gets the same parameters.
void set_in_clone(const char* call, const char* of_node, Handle exec, Handle node, const void* params) {
  const Handle cloned = node_in_clone(exec, node, call);
  if (cloned != nullptr && Call<Status(Handle, const void*)>::to(of_node, cloned, params) != success)
    out_of_step(exec, call);
}

}  // namespace

// Parameters of one struct: a kernel, a host function, an event, or any.
#define PLD_SET_PARAMS(symbol, of_node)                                                          \
  PLD_EXPORT Status symbol(Handle exec, Handle node, const void* params) {                       \
    const Status s = Call<Status(Handle, Handle, const void*)>::to(#symbol, exec, node, params); \
    if (s == success) set_in_clone(#symbol, of_node, exec, node, params);                        \
    return s;                                                                                    \
  }
PLD_SET_PARAMS(cuGraphExecKernelNodeSetParams, "cuGraphKernelNodeSetParams")
PLD_SET_PARAMS(cuGraphExecKernelNodeSetParams_v2, "cuGraphKernelNodeSetParams_v2")
PLD_SET_PARAMS(cuGraphExecHostNodeSetParams, "cuGraphHostNodeSetParams")
PLD_SET_PARAMS(cuGraphExecEventRecordNodeSetEvent, "cuGraphEventRecordNodeSetEvent")
PLD_SET_PARAMS(cuGraphExecEventWaitNodeSetEvent, "cuGraphEventWaitNodeSetEvent")
PLD_SET_PARAMS(cuGraphExecNodeSetParams, "cuGraphNodeSetParams")

// Copies and fills are in a context.
#define PLD_SET_MEMORY(symbol, of_node)                                                              \
  PLD_EXPORT Status symbol(Handle exec, Handle node, const void* params, Handle context) {           \
    const Status s =                                                                                 \
        Call<Status(Handle, Handle, const void*, Handle)>::to(#symbol, exec, node, params, context); \
    if (s == success) set_in_clone(#symbol, of_node, exec, node, params);                            \
    return s;                                                                                        \
  }
PLD_SET_MEMORY(cuGraphExecMemcpyNodeSetParams, "cuGraphMemcpyNodeSetParams")
PLD_SET_MEMORY(cuGraphExecMemsetNodeSetParams, "cuGraphMemsetNodeSetParams")
PLD_EXPORT Status cuGraphExecChildGraphNodeSetParams(Handle exec, Handle node, Handle child) {
  const Status s =
      Call<Status(Handle, Handle, Handle)>::to("cuGraphExecChildGraphNodeSetParams", exec, node, child);
  if (s == success) out_of_step(exec, "cuGraphExecChildGraphNodeSetParams");
  return s;
}

namespace palladion::cuda::capture {

std::span<const Hook> graph_hooks() {
  static const Hook hooks[] = {PLD_HOOK(cuGraphInstantiate),
                               PLD_HOOK(cuGraphInstantiate_v2),
                               PLD_HOOK(cuGraphInstantiateWithFlags),
                               PLD_HOOK_PTSZ(cuGraphInstantiateWithParams),
                               PLD_HOOK_PTSZ(cuGraphLaunch),
                               PLD_HOOK(cuGraphExecDestroy),
                               PLD_HOOK(cuGraphExecUpdate),
                               PLD_HOOK(cuGraphExecUpdate_v2),
                               PLD_HOOK(cuGraphNodeSetEnabled),
                               PLD_HOOK(cuGraphExecKernelNodeSetParams),
                               PLD_HOOK(cuGraphExecKernelNodeSetParams_v2),
                               PLD_HOOK(cuGraphExecHostNodeSetParams),
                               PLD_HOOK(cuGraphExecEventRecordNodeSetEvent),
                               PLD_HOOK(cuGraphExecEventWaitNodeSetEvent),
                               PLD_HOOK(cuGraphExecNodeSetParams),
                               PLD_HOOK(cuGraphExecMemcpyNodeSetParams),
                               PLD_HOOK(cuGraphExecMemsetNodeSetParams),
                               PLD_HOOK(cuGraphExecChildGraphNodeSetParams)};
  return hooks;
}

const char* symbol_of_graph_call(const char* name, int version) {
  struct Renamed {
    const char *name, *since_12, *before;
  };
  constexpr Renamed all[] = {{"cuGraphInstantiate", "cuGraphInstantiateWithFlags", "cuGraphInstantiate"},
                             {"cuGraphExecUpdate", "cuGraphExecUpdate_v2", "cuGraphExecUpdate"},
                             {"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2",
                              "cuGraphExecKernelNodeSetParams"}};
  for (const Renamed& r : all)
    if (std::strcmp(name, r.name) == 0) return version >= 12000 ? r.since_12 : r.before;
  return name;
}

}  // namespace palladion::cuda::capture
