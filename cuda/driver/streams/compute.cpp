// Calls of libraries of NVIDIA's that are machine code alone: computed on the host, and said to be.
#include <fmt/format.h>

#include <cstdio>

#include "cuda/driver/reporting.h"
#include "cuda/driver/session.h"
#include "cuda/driver/stand_in.h"
#include "cuda/driver/streams/streams.h"

namespace palladion::cuda::driver {

struct ComputeWork {
  ComputeWork(const char* name, const Piece* first, size_t count, const HostCall& function)
      : what(name), pieces(first, first + count), call(function) {}
  ~ComputeWork() { call.release(call.data); }
  ComputeWork(const ComputeWork&) = delete;
  ComputeWork& operator=(const ComputeWork&) = delete;
  std::string what;
  std::vector<Piece> pieces;
  HostCall call;
  std::vector<Piece> touched;  // when it was last computed, with what arrays of addresses name
};

namespace {

size_t span_of(const Piece& p) { return p.rows == 0 ? 0 : (p.rows - 1) * p.pitch + p.width; }

bool is_empty(const Piece& p) { return p.rows == 0 || p.width == 0; }

// Null: it is no memory of the device.
void* view_of(const Piece& p) {
  const auto at = reinterpret_cast<Pointer>(p.at);
  if (p.writes)
    for (size_t row = 0; row < p.rows; ++row)
      if (palladion_exec_host_view(at + row * p.pitch, p.width, 1) == nullptr) return nullptr;
  return palladion_exec_host_view(at, span_of(p), 0);
}

Status refuse(const ComputeWork& w, const std::string& why) {
  fmt::print(stderr, "palladion exec: {}: {}\n", w.what, why);
  count_errors(1);
  return state().sticky = illegal_address;
}

Status take(ComputeWork& w, const Piece& p, std::vector<void*>& views) {
  void* const view = is_empty(p) ? nullptr : view_of(p);
  if (view == nullptr && !is_empty(p))
    return refuse(w, fmt::format("{} bytes at {} are no memory of the device", span_of(p), p.at));
  views.push_back(view);
  w.touched.push_back(p);
  return success;
}

Status take_named(ComputeWork& w, const Piece& p, std::vector<void*>& views) {
  std::vector<void*> array;
  if (const Status status = take(w, {p.at, p.pointers * sizeof(void*), 1, 0, true, false}, array);
      status != success)
    return status;
  for (size_t i = 0; i < p.pointers; ++i) {
    Piece one = p;
    one.at = static_cast<void* const*>(array.front())[i];
    one.pointers = 0;
    if (const Status status = take(w, one, views); status != success) return status;
  }
  return success;
}

}  // namespace

Status compute(ComputeWork& w) {
  std::vector<void*> views;
  w.touched.clear();
  for (const Piece& p : w.pieces)
    if (const Status status = p.pointers == 0 ? take(w, p, views) : take_named(w, p, views);
        status != success)
      return status;
  if (const char* const wrong = w.call.compute(w.call.data, views.data())) return refuse(w, wrong);
  State& s = state();
  const auto [at, added] =
      s.computed.try_emplace(w.what, Missing{static_cast<uint32_t>(s.computed.size()), 0});
  ++at->second.count;
  report_computed(w.what, at->second);
  return success;
}

order::Touched touched_by(const ComputeWork& w) {
  order::Touched t;
  for (const Piece& p : w.touched)
    for (size_t row = 0; row < p.rows && !is_empty(p); ++row) {
      const uint64_t at = reinterpret_cast<Pointer>(p.at) + row * p.pitch;
      if (p.reads) t.read.add(at, at + p.width);
      if (p.writes) t.written.add(at, at + p.width);
    }
  return t;
}

std::string text_of(const ComputeWork& w) { return fmt::format("library call `{}`", w.what); }

}  // namespace palladion::cuda::driver

using namespace palladion::cuda::driver;

PLD_CUDA palladion_exec_compute(const char* what, void* stream, const palladion::cuda::Piece* pieces,
                                size_t count, const palladion::cuda::HostCall* call) {
  const Guard guard(state().lock);
  auto work = std::make_shared<ComputeWork>(what, pieces, count, *call);
  if (const Status status = usable(); status != success) return status;
  return enqueue(static_cast<Stream*>(stream), std::move(work));
}
