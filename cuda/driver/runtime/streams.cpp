// Streams, capture and events.
#include "cuda/driver/runtime/state.h"

using namespace palladion::cuda::runtime;

namespace {

Status create(Stream* out, unsigned flags, int priority) {
  if (out == nullptr || flags > 1) return palladion::cuda::driver::invalid_value;
  return cuStreamCreateWithPriority(out, flags, priority);
}

Status create_event(Event* out, unsigned flags) {
  if (out == nullptr || flags > 7) return palladion::cuda::driver::invalid_value;
  return cuEventCreate(out, flags);
}

}  // namespace

PLD_CALL(cudaStreamCreate, (Stream * out), create(out, 0, 0))
PLD_CALL(cudaStreamCreateWithFlags, (Stream * out, unsigned flags), create(out, flags, 0))
PLD_CALL(cudaStreamCreateWithPriority, (Stream * out, unsigned flags, int priority),
         create(out, flags, priority))
PLD_CALL(cudaStreamDestroy, (Stream stream), cuStreamDestroy_v2(stream))
PLD_STREAMED(cudaStreamSynchronize, (Stream stream), cuStreamSynchronize(stream))
PLD_STREAMED(cudaStreamQuery, (Stream stream), cuStreamQuery(stream))
PLD_STREAMED(cudaStreamGetFlags, (Stream stream, unsigned* flags), cuStreamGetFlags(stream, flags))
PLD_STREAMED(cudaStreamGetPriority, (Stream stream, int* priority), cuStreamGetPriority(stream, priority))
PLD_STREAMED(cudaStreamGetId, (Stream stream, unsigned long long* id), cuStreamGetId(stream, id))
PLD_STREAMED(cudaStreamGetDevice, (Stream stream, int* device), cuStreamGetDevice(stream, device))
PLD_STREAMED(cudaStreamSetAttribute, (Stream stream, int attribute, const void* value),
             cuStreamSetAttribute(stream, attribute, value))
PLD_STREAMED(cudaStreamGetAttribute, (Stream stream, int attribute, void* value),
             cuStreamGetAttribute(stream, attribute, value))
PLD_STREAMED(cudaStreamCopyAttributes, (Stream to, Stream stream), cuStreamCopyAttributes(to, stream))
PLD_STREAMED(cudaStreamAttachMemAsync, (Stream stream, void* p, size_t bytes, unsigned flags),
             cuStreamAttachMemAsync(stream, reinterpret_cast<Pointer>(p), bytes, flags))
PLD_STREAMED(cudaStreamAddCallback,
             (Stream stream, void (*fn)(Stream, Error, void*), void* data, unsigned flags),
             cuStreamAddCallback(stream, fn, data, flags))
PLD_STREAMED(cudaStreamWaitEvent, (Stream stream, Event event, unsigned flags),
             cuStreamWaitEvent(stream, event, flags))

PLD_STREAMED(cudaStreamBeginCapture, (Stream stream, int mode), cuStreamBeginCapture_v2(stream, mode))
PLD_STREAMED(cudaStreamBeginCaptureToGraph,
             (Stream stream, Graph graph, const GraphNode* after, const void* edges, size_t count, int mode),
             cuStreamBeginCaptureToGraph(stream, graph, after, edges, count, mode))
PLD_STREAMED(cudaStreamEndCapture, (Stream stream, Graph* graph), cuStreamEndCapture(stream, graph))
PLD_STREAMED(cudaStreamIsCapturing, (Stream stream, int* status), cuStreamIsCapturing(stream, status))
PLD_STREAMED(cudaStreamGetCaptureInfo,
             (Stream stream, int* status, unsigned long long* id, Graph* graph, GraphNode const** nodes,
              const void** edges, size_t* count),
             cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, edges, count))
PLD_STREAMED(cudaStreamUpdateCaptureDependencies,
             (Stream stream, GraphNode* nodes, const void* edges, size_t count, unsigned flags),
             cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags))
PLD_CALL(cudaThreadExchangeStreamCaptureMode, (int* mode), cuThreadExchangeStreamCaptureMode(mode))

PLD_CALL(cudaEventCreate, (Event * out), create_event(out, 0))
PLD_CALL(cudaEventCreateWithFlags, (Event * out, unsigned flags), create_event(out, flags))
PLD_CALL(cudaEventDestroy, (Event event),
         event == nullptr ? palladion::cuda::driver::invalid_handle : cuEventDestroy_v2(event))
PLD_STREAMED(cudaEventRecord, (Event event, Stream stream), cuEventRecordWithFlags(event, stream, 0))
PLD_STREAMED(cudaEventRecordWithFlags, (Event event, Stream stream, unsigned flags),
             cuEventRecordWithFlags(event, stream, flags))
PLD_CALL(cudaEventQuery, (Event event), cuEventQuery(event))
PLD_CALL(cudaEventSynchronize, (Event event), cuEventSynchronize(event))
PLD_CALL(cudaEventElapsedTime, (float* ms, Event from, Event to), cuEventElapsedTime_v2(ms, from, to))
