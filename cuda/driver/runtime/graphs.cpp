// Graphs as a whole. Nodes: graph_nodes.cpp.
#include "cuda/driver/runtime/state.h"

using namespace palladion::cuda::runtime;

PLD_CALL(cudaGraphCreate, (Graph * out, unsigned flags), cuGraphCreate(out, flags))
PLD_CALL(cudaGraphDestroy, (Graph graph), cuGraphDestroy(graph))
PLD_CALL(cudaGraphClone, (Graph * out, Graph graph), cuGraphClone(out, graph))
PLD_CALL(cudaGraphNodeFindInClone, (GraphNode * out, GraphNode node, Graph clone),
         cuGraphNodeFindInClone(out, node, clone))
PLD_CALL(cudaGraphInstantiate, (GraphExec * out, Graph graph, unsigned long long flags),
         cuGraphInstantiateWithFlags(out, graph, flags))
PLD_CALL(cudaGraphInstantiateWithFlags, (GraphExec * out, Graph graph, unsigned long long flags),
         cuGraphInstantiateWithFlags(out, graph, flags))
PLD_CALL(cudaGraphInstantiateWithParams, (GraphExec * out, Graph graph, void* params),
         cuGraphInstantiateWithParams(out, graph, params))
PLD_CALL(cudaGraphInstantiateWithParams_ptsz, (GraphExec * out, Graph graph, void* params),
         cuGraphInstantiateWithParams(out, graph, params))
PLD_CALL(cudaGraphExecGetFlags, (GraphExec exec, unsigned long long* flags),
         cuGraphExecGetFlags(exec, reinterpret_cast<uint64_t*>(flags)))
PLD_CALL(cudaGraphExecDestroy, (GraphExec exec), cuGraphExecDestroy(exec))
PLD_CALL(cudaGraphExecUpdate, (GraphExec exec, Graph graph, palladion::cuda::driver::UpdateResult* result),
         cuGraphExecUpdate_v2(exec, graph, result))
PLD_STREAMED(cudaGraphUpload, (GraphExec exec, Stream stream), cuGraphUpload(exec, stream))
PLD_STREAMED(cudaGraphLaunch, (GraphExec exec, Stream stream), cuGraphLaunch(exec, stream))

PLD_CALL(cudaGraphAddDependencies,
         (Graph graph, const GraphNode* from, const GraphNode* to, const void* edges, size_t count),
         cuGraphAddDependencies_v2(graph, from, to, edges, count))
PLD_CALL(cudaGraphRemoveDependencies,
         (Graph graph, const GraphNode* from, const GraphNode* to, const void* edges, size_t count),
         cuGraphRemoveDependencies_v2(graph, from, to, edges, count))
PLD_CALL(cudaGraphDestroyNode, (GraphNode node), cuGraphDestroyNode(node))
PLD_CALL(cudaGraphGetNodes, (Graph graph, GraphNode* out, size_t* count), cuGraphGetNodes(graph, out, count))
PLD_CALL(cudaGraphGetRootNodes, (Graph graph, GraphNode* out, size_t* count),
         cuGraphGetRootNodes(graph, out, count))
PLD_CALL(cudaGraphGetEdges, (Graph graph, GraphNode* from, GraphNode* to, void* edges, size_t* count),
         cuGraphGetEdges_v2(graph, from, to, edges, count))
PLD_CALL(cudaGraphNodeGetDependencies, (GraphNode node, GraphNode* out, void* edges, size_t* count),
         cuGraphNodeGetDependencies_v2(node, out, edges, count))
PLD_CALL(cudaGraphNodeGetDependentNodes, (GraphNode node, GraphNode* out, void* edges, size_t* count),
         cuGraphNodeGetDependentNodes_v2(node, out, edges, count))
PLD_CALL(cudaGraphDebugDotPrint, (Graph graph, const char* path, unsigned flags),
         cuGraphDebugDotPrint(graph, path, flags))
PLD_CALL(cudaDeviceGetGraphMemAttribute, (int device, int attribute, void* value),
         cuDeviceGetGraphMemAttribute(device, attribute, value))
PLD_CALL(cudaDeviceSetGraphMemAttribute, (int device, int attribute, void* value),
         cuDeviceSetGraphMemAttribute(device, attribute, value))
PLD_CALL(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim(device))

// Objects of the program that graphs keep alive.
PLD_CALL(cudaUserObjectCreate,
         (void** out, void* object, HostFn destroy, unsigned references, unsigned flags),
         cuUserObjectCreate(out, object, destroy, references, flags))
PLD_CALL(cudaUserObjectRetain, (void* object, unsigned count), cuUserObjectRetain(object, count))
PLD_CALL(cudaUserObjectRelease, (void* object, unsigned count), cuUserObjectRelease(object, count))
PLD_CALL(cudaGraphRetainUserObject, (Graph graph, void* object, unsigned count, unsigned flags),
         cuGraphRetainUserObject(graph, object, count, flags))
PLD_CALL(cudaGraphReleaseUserObject, (Graph graph, void* object, unsigned count),
         cuGraphReleaseUserObject(graph, object, count))
