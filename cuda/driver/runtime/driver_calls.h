#pragma once
// The functions of our libcuda.so.1 that the runtime library calls.
#include "cuda/driver/runtime/api.h"

#define PLD_CALLED extern "C" ::palladion::cuda::driver::Status

using palladion::cuda::driver::HostFn;
using palladion::cuda::driver::HostNode;
using palladion::cuda::driver::KernelNode;
using palladion::cuda::driver::Memcpy2D;
using palladion::cuda::driver::Memcpy3D;
using palladion::cuda::driver::MemsetNode;
using palladion::cuda::driver::Pointer;
using palladion::cuda::driver::Uuid;

// Tells by name, once, what is not there, and counts it in the report. Gives not_supported.
PLD_CALLED palladion_exec_unsupported(const char*);
// Whether the thread's synchronous calls are of its own default stream.
PLD_CALLED palladion_exec_own_default_stream(int);
PLD_CALLED cuInit(unsigned);
PLD_CALLED cuDriverGetVersion(int*);
PLD_CALLED cuGetErrorString(int, const char**);
PLD_CALLED cuDeviceGetName(char*, int, int);
PLD_CALLED cuDeviceGetUuid_v2(Uuid*, int);
PLD_CALLED cuDeviceTotalMem_v2(size_t*, int);
PLD_CALLED cuDeviceGetAttribute(int*, int, int);
PLD_CALLED cuDeviceGetPCIBusId(char*, int, int);
PLD_CALLED cuDeviceGetByPCIBusId(int*, const char*);
PLD_CALLED cuDevicePrimaryCtxRetain(void**, int);
PLD_CALLED cuDevicePrimaryCtxReset_v2(int);
PLD_CALLED cuCtxSetCurrent(void*);
PLD_CALLED cuCtxGetCurrent(void**);
PLD_CALLED cuCtxSynchronize();
PLD_CALLED cuCtxGetLimit(size_t*, int);
PLD_CALLED cuCtxSetLimit(int, size_t);
PLD_CALLED cuCtxGetStreamPriorityRange(int*, int*);
PLD_CALLED cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);

PLD_CALLED cuLibraryLoadData(void**, const void*, void*, void**, unsigned, void*, void**, unsigned);
PLD_CALLED cuLibraryLoadFromFile(void**, const char*, void*, void**, unsigned, void*, void**, unsigned);
PLD_CALLED cuLibraryUnload(void*);
PLD_CALLED cuLibraryGetKernel(void**, void*, const char*);
PLD_CALLED cuLibraryGetGlobal(Pointer*, size_t*, void*, const char*);
PLD_CALLED cuLibraryGetManaged(Pointer*, size_t*, void*, const char*);
PLD_CALLED cuLibraryGetKernelCount(unsigned*, void*);
PLD_CALLED cuLibraryEnumerateKernels(void**, unsigned, void*);
PLD_CALLED cuFuncGetAttribute(int*, int, void*);
PLD_CALLED cuFuncSetAttribute(void*, int, int);
PLD_CALLED cuFuncGetName(const char**, void*);
PLD_CALLED cuFuncGetParamInfo(void*, size_t, size_t*, size_t*);

PLD_CALLED cuLaunchKernelEx(const palladion::cuda::driver::LaunchConfig*, void*, void**, void**);
PLD_CALLED cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, void*, void**);
PLD_CALLED cuLaunchHostFunc(void*, HostFn, void*);
PLD_CALLED cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, void*, int, size_t, unsigned);
PLD_CALLED cuOccupancyAvailableDynamicSMemPerBlock(size_t*, void*, int, int);

PLD_CALLED cuMemAlloc_v2(Pointer*, size_t);
PLD_CALLED cuMemAllocManaged(Pointer*, size_t, unsigned);
PLD_CALLED cuMemAllocPitch_v2(Pointer*, size_t*, size_t, size_t, unsigned);
PLD_CALLED cuMemFree_v2(Pointer);
PLD_CALLED cuMemHostAlloc(void**, size_t, unsigned);
PLD_CALLED cuMemFreeHost(void*);
PLD_CALLED cuMemHostGetDevicePointer_v2(Pointer*, void*, unsigned);
PLD_CALLED cuMemHostGetFlags(unsigned*, void*);
PLD_CALLED cuMemHostRegister_v2(void*, size_t, unsigned);
PLD_CALLED cuMemHostUnregister(void*);
PLD_CALLED cuMemGetInfo_v2(size_t*, size_t*);
PLD_CALLED cuMemGetAddressRange_v2(Pointer*, size_t*, Pointer);
PLD_CALLED cuMemAllocAsync(Pointer*, size_t, void*);
PLD_CALLED cuMemAllocFromPoolAsync(Pointer*, size_t, void*, void*);
PLD_CALLED cuMemFreeAsync(Pointer, void*);
PLD_CALLED cuDeviceGetDefaultMemPool(void**, int);
PLD_CALLED cuDeviceGetMemPool(void**, int);
PLD_CALLED cuDeviceSetMemPool(int, void*);
PLD_CALLED cuMemPoolCreate(void**, const void*);
PLD_CALLED cuMemPoolDestroy(void*);
PLD_CALLED cuMemPoolTrimTo(void*, size_t);
PLD_CALLED cuMemPoolSetAccess(void*, const void*, size_t);
PLD_CALLED cuMemPoolSetAttribute(void*, int, void*);
PLD_CALLED cuMemPoolGetAttribute(void*, int, void*);
PLD_CALLED cuMemPrefetchAsync_v2(Pointer, size_t, palladion::cuda::driver::MemLocation, unsigned, void*);
PLD_CALLED cuMemAdvise_v2(Pointer, size_t, int, palladion::cuda::driver::MemLocation);
PLD_CALLED cuPointerGetAttribute(void*, int, Pointer);

PLD_CALLED cuMemcpy(Pointer, Pointer, size_t);
PLD_CALLED cuMemcpyHtoD_v2(Pointer, const void*, size_t);
PLD_CALLED cuMemcpyDtoH_v2(void*, Pointer, size_t);
PLD_CALLED cuMemcpyDtoD_v2(Pointer, Pointer, size_t);
PLD_CALLED cuMemcpyAsync(Pointer, Pointer, size_t, void*);
PLD_CALLED cuMemcpyHtoDAsync_v2(Pointer, const void*, size_t, void*);
PLD_CALLED cuMemcpyDtoHAsync_v2(void*, Pointer, size_t, void*);
PLD_CALLED cuMemcpyDtoDAsync_v2(Pointer, Pointer, size_t, void*);
PLD_CALLED cuMemcpy3D_v2(const Memcpy3D*);
PLD_CALLED cuMemcpy3DAsync_v2(const Memcpy3D*, void*);
PLD_CALLED cuMemsetD8_v2(Pointer, unsigned char, size_t);
PLD_CALLED cuMemsetD8Async(Pointer, unsigned char, size_t, void*);
PLD_CALLED cuMemsetD2D8_v2(Pointer, size_t, unsigned char, size_t, size_t);
PLD_CALLED cuMemsetD2D8Async(Pointer, size_t, unsigned char, size_t, size_t, void*);

PLD_CALLED cuStreamCreateWithPriority(void**, unsigned, int);
PLD_CALLED cuStreamDestroy_v2(void*);
PLD_CALLED cuStreamSynchronize(void*);
PLD_CALLED cuStreamQuery(void*);
PLD_CALLED cuStreamGetFlags(void*, unsigned*);
PLD_CALLED cuStreamGetPriority(void*, int*);
PLD_CALLED cuStreamGetId(void*, unsigned long long*);
PLD_CALLED cuStreamGetDevice(void*, int*);
PLD_CALLED cuStreamSetAttribute(void*, int, const void*);
PLD_CALLED cuStreamAttachMemAsync(void*, Pointer, size_t, unsigned);
PLD_CALLED cuStreamAddCallback(void*, void (*)(void*, int, void*), void*, unsigned);
PLD_CALLED cuStreamWaitEvent(void*, void*, unsigned);
PLD_CALLED cuStreamBeginCapture_v2(void*, int);
PLD_CALLED cuStreamBeginCaptureToGraph(void*, void*, void* const*, const void*, size_t, int);
PLD_CALLED cuStreamEndCapture(void*, void**);
PLD_CALLED cuStreamIsCapturing(void*, int*);
PLD_CALLED cuStreamGetCaptureInfo_v3(void*, int*, unsigned long long*, void**, void* const**, const void**,
                                     size_t*);
PLD_CALLED cuStreamUpdateCaptureDependencies_v2(void*, void**, const void*, size_t, unsigned);
PLD_CALLED cuThreadExchangeStreamCaptureMode(int*);
PLD_CALLED cuEventCreate(void**, unsigned);
PLD_CALLED cuEventDestroy_v2(void*);
PLD_CALLED cuEventRecordWithFlags(void*, void*, unsigned);
PLD_CALLED cuEventQuery(void*);
PLD_CALLED cuEventSynchronize(void*);
PLD_CALLED cuEventElapsedTime_v2(float*, void*, void*);

PLD_CALLED cuGraphCreate(void**, unsigned);
PLD_CALLED cuGraphDestroy(void*);
PLD_CALLED cuGraphClone(void**, void*);
PLD_CALLED cuGraphNodeFindInClone(void**, void*, void*);
PLD_CALLED cuGraphInstantiateWithFlags(void**, void*, uint64_t);
PLD_CALLED cuGraphInstantiateWithParams(void**, void*, void*);
PLD_CALLED cuGraphExecGetFlags(void*, uint64_t*);
PLD_CALLED cuGraphExecDestroy(void*);
PLD_CALLED cuGraphUpload(void*, void*);
PLD_CALLED cuGraphLaunch(void*, void*);
PLD_CALLED cuGraphExecUpdate_v2(void*, void*, palladion::cuda::driver::UpdateResult*);
PLD_CALLED cuGraphAddDependencies_v2(void*, void* const*, void* const*, const void*, size_t);
PLD_CALLED cuGraphRemoveDependencies_v2(void*, void* const*, void* const*, const void*, size_t);
PLD_CALLED cuGraphDestroyNode(void*);
PLD_CALLED cuGraphGetNodes(void*, void**, size_t*);
PLD_CALLED cuGraphGetRootNodes(void*, void**, size_t*);
PLD_CALLED cuGraphGetEdges_v2(void*, void**, void**, void*, size_t*);
PLD_CALLED cuGraphNodeGetDependencies_v2(void*, void**, void*, size_t*);
PLD_CALLED cuGraphNodeGetDependentNodes_v2(void*, void**, void*, size_t*);
PLD_CALLED cuGraphDebugDotPrint(void*, const char*, unsigned);
PLD_CALLED cuGraphAddKernelNode_v2(void**, void*, void* const*, size_t, const KernelNode*);
PLD_CALLED cuGraphAddMemcpyNode(void**, void*, void* const*, size_t, const Memcpy3D*, void*);
PLD_CALLED cuGraphAddMemsetNode(void**, void*, void* const*, size_t, const MemsetNode*, void*);
PLD_CALLED cuGraphAddHostNode(void**, void*, void* const*, size_t, const HostNode*);
PLD_CALLED cuGraphAddEmptyNode(void**, void*, void* const*, size_t);
PLD_CALLED cuGraphAddChildGraphNode(void**, void*, void* const*, size_t, void*);
PLD_CALLED cuGraphAddEventRecordNode(void**, void*, void* const*, size_t, void*);
PLD_CALLED cuGraphAddEventWaitNode(void**, void*, void* const*, size_t, void*);
PLD_CALLED cuGraphAddMemAllocNode(void**, void*, void* const*, size_t,
                                  palladion::cuda::driver::MemAllocNode*);
PLD_CALLED cuGraphAddMemFreeNode(void**, void*, void* const*, size_t, Pointer);
PLD_CALLED cuGraphAddNode_v2(void**, void*, void* const*, const void*, size_t,
                             palladion::cuda::driver::NodeParams*);
PLD_CALLED cuGraphConditionalHandleCreate(uint64_t*, void*, void*, unsigned, unsigned);
PLD_CALLED cuGraphNodeGetType(void*, int*);
PLD_CALLED cuGraphKernelNodeGetParams_v2(void*, KernelNode*);
PLD_CALLED cuGraphKernelNodeSetParams_v2(void*, const KernelNode*);
PLD_CALLED cuGraphExecKernelNodeSetParams_v2(void*, void*, const KernelNode*);
PLD_CALLED cuGraphKernelNodeSetAttribute(void*, uint32_t, const void*);
PLD_CALLED cuGraphKernelNodeGetAttribute(void*, uint32_t, void*);
PLD_CALLED cuGraphMemcpyNodeGetParams(void*, Memcpy3D*);
PLD_CALLED cuGraphMemcpyNodeSetParams(void*, const Memcpy3D*);
PLD_CALLED cuGraphExecMemcpyNodeSetParams(void*, void*, const Memcpy3D*, void*);
PLD_CALLED cuGraphMemsetNodeGetParams(void*, MemsetNode*);
PLD_CALLED cuGraphMemsetNodeSetParams(void*, const MemsetNode*);
PLD_CALLED cuGraphExecMemsetNodeSetParams(void*, void*, const MemsetNode*, void*);
PLD_CALLED cuGraphHostNodeGetParams(void*, HostNode*);
PLD_CALLED cuGraphHostNodeSetParams(void*, const HostNode*);
PLD_CALLED cuGraphExecHostNodeSetParams(void*, void*, const HostNode*);
PLD_CALLED cuGraphChildGraphNodeGetGraph(void*, void**);
PLD_CALLED cuGraphExecChildGraphNodeSetParams(void*, void*, void*);
PLD_CALLED cuGraphEventRecordNodeGetEvent(void*, void**);
PLD_CALLED cuGraphEventWaitNodeGetEvent(void*, void**);
PLD_CALLED cuGraphEventRecordNodeSetEvent(void*, void*);
PLD_CALLED cuGraphEventWaitNodeSetEvent(void*, void*);
PLD_CALLED cuGraphExecEventRecordNodeSetEvent(void*, void*, void*);
PLD_CALLED cuGraphExecEventWaitNodeSetEvent(void*, void*, void*);
PLD_CALLED cuGraphMemAllocNodeGetParams(void*, palladion::cuda::driver::MemAllocNode*);
PLD_CALLED cuGraphMemFreeNodeGetParams(void*, Pointer*);
PLD_CALLED cuGraphNodeSetEnabled(void*, void*, unsigned);
PLD_CALLED cuGraphNodeGetEnabled(void*, void*, unsigned*);
PLD_CALLED cuDeviceGetGraphMemAttribute(int, int, void*);
PLD_CALLED cuDeviceSetGraphMemAttribute(int, int, void*);
PLD_CALLED cuDeviceGraphMemTrim(int);

PLD_CALLED cuArray3DCreate_v2(void**, const palladion::cuda::driver::Array3DDescriptor*);
PLD_CALLED cuArrayDestroy(void*);
PLD_CALLED cuArray3DGetDescriptor_v2(palladion::cuda::driver::Array3DDescriptor*, const void*);
PLD_CALLED cuArrayGetMemoryRequirements(palladion::cuda::driver::ArrayMemoryRequirements*, const void*, int);
PLD_CALLED cuMipmappedArrayCreate(void**, const palladion::cuda::driver::Array3DDescriptor*, unsigned);
PLD_CALLED cuMipmappedArrayGetLevel(void**, const void*, unsigned);
PLD_CALLED cuMipmappedArrayDestroy(void*);
PLD_CALLED cuMipmappedArrayGetMemoryRequirements(palladion::cuda::driver::ArrayMemoryRequirements*,
                                                 const void*, int);
PLD_CALLED cuMemcpyHtoAAsync_v2(void*, size_t, const void*, size_t, void*);
PLD_CALLED cuMemcpyAtoHAsync_v2(void*, void*, size_t, size_t, void*);
PLD_CALLED cuMemcpyDtoA_v2(void*, size_t, Pointer, size_t);
PLD_CALLED cuMemcpyAtoD_v2(Pointer, void*, size_t, size_t);
PLD_CALLED cuMemcpyAtoA_v2(void*, size_t, void*, size_t, size_t);
PLD_CALLED cuTexObjectCreate(uint64_t*, const palladion::cuda::driver::ResourceDescriptor*,
                             const palladion::cuda::driver::TextureDescriptor*,
                             const palladion::cuda::driver::ResourceViewDescriptor*);
PLD_CALLED cuTexObjectDestroy(uint64_t);
PLD_CALLED cuSurfObjectCreate(uint64_t*, const palladion::cuda::driver::ResourceDescriptor*);
PLD_CALLED cuSurfObjectDestroy(uint64_t);
PLD_CALLED cuDeviceGetTexture1DLinearMaxWidth(size_t*, uint32_t, unsigned, int);

PLD_CALLED cuOccupancyMaxActiveClusters(int*, void*, const palladion::cuda::driver::LaunchConfig*);
PLD_CALLED cuOccupancyMaxPotentialClusterSize(int*, void*, const palladion::cuda::driver::LaunchConfig*);
PLD_CALLED cuStreamGetAttribute(void*, int, void*);
PLD_CALLED cuStreamCopyAttributes(void*, void*);
PLD_CALLED cuMemPoolGetAccess(int*, void*, const palladion::cuda::driver::MemLocation*);
PLD_CALLED cuMemRangeGetAttribute(void*, size_t, int, Pointer, size_t);
PLD_CALLED cuMemRangeGetAttributes(void**, const size_t*, const int*, size_t, Pointer, size_t);
PLD_CALLED cuMemPrefetchBatchAsync(const Pointer*, const size_t*, size_t,
                                   const palladion::cuda::driver::MemLocation*, const size_t*, size_t,
                                   unsigned long long, void*);
PLD_CALLED cuMemGetDefaultMemPool(void**, const palladion::cuda::driver::MemLocation*, int);
PLD_CALLED cuMemGetMemPool(void**, const palladion::cuda::driver::MemLocation*, int);
PLD_CALLED cuMemSetMemPool(const palladion::cuda::driver::MemLocation*, int, void*);
PLD_CALLED cuCtxResetPersistingL2Cache();
PLD_CALLED cuGraphKernelNodeCopyAttributes(void*, void*);
PLD_CALLED cuUserObjectCreate(void**, void*, HostFn, unsigned, unsigned);
PLD_CALLED cuUserObjectRetain(void*, unsigned);
PLD_CALLED cuUserObjectRelease(void*, unsigned);
PLD_CALLED cuGraphRetainUserObject(void*, void*, unsigned, unsigned);
PLD_CALLED cuGraphReleaseUserObject(void*, void*, unsigned);
