// What a stream or a graph does: one operation each.
#include <fmt/format.h>

#include "cuda/driver/streams/streams.h"

namespace palladion::cuda::driver {
namespace {

struct Kind {
  NodeKind operator()(const EmptyWork&) const { return NodeKind::empty; }
  NodeKind operator()(const std::shared_ptr<LaunchWork>&) const { return NodeKind::kernel; }
  NodeKind operator()(const Memcpy3D&) const { return NodeKind::memcpy; }
  NodeKind operator()(const MemsetNode&) const { return NodeKind::memset; }
  NodeKind operator()(const HostNode&) const { return NodeKind::host; }
  NodeKind operator()(const std::shared_ptr<Graph>&) const { return NodeKind::graph; }
  NodeKind operator()(const WaitWork&) const { return NodeKind::wait; }
  NodeKind operator()(const RecordWork&) const { return NodeKind::record; }
  NodeKind operator()(const AllocWork&) const { return NodeKind::alloc; }
  NodeKind operator()(const FreeWork&) const { return NodeKind::free; }
  NodeKind operator()(const std::shared_ptr<ConditionalWork>&) const { return NodeKind::conditional; }
  NodeKind operator()(const std::shared_ptr<ComputeWork>&) const { return NodeKind::host; }
};

// Does the operation; what it depends on is over.
struct Runner {
  Doing& doing;

  Status operator()(const EmptyWork&) const { return finished(doing.place), success; }
  Status operator()(const WaitWork&) const { return finished(doing.place), success; }
  Status operator()(const std::shared_ptr<LaunchWork>& w) const { return perform(*w, doing); }
  Status operator()(const Memcpy3D& c) const {
    const Status status = copy_3d(c);
    if (status == success && doing.as) judge(doing, touched_by(c));
    return finished(doing.place), status;
  }
  Status operator()(const MemsetNode& m) const {
    const Status status = fill(m.dst, m.pitch, m.value, m.element_bytes, m.width, m.height);
    if (status == success && doing.as) judge(doing, touched_by(m));
    return finished(doing.place), status;
  }
  Status operator()(const HostNode& h) const {
    return call_host(doing.place, [&] { h.fn(h.data); }), success;
  }
  Status operator()(const std::shared_ptr<Graph>& g) const { return run_graph(*g, doing); }
  Status operator()(const RecordWork& r) const {
    if (!exist(r.event)) return finished(doing.place), Status{invalid_handle};  // it was destroyed
    mark(*r.event, {doing.place.after(), {}}, doing.place.stream);
    return finished(doing.place), success;
  }
  Status operator()(const AllocWork& a) const {
    const Status status = run_allocation(a);
    if (status == success && doing.as) judge(doing, touched_by_owner(a.address));
    return finished(doing.place), status;
  }
  Status operator()(const FreeWork& f) const {
    if (doing.as) judge(doing, touched_by_owner(f.address));
    const Status status = run_free(f);
    return finished(doing.place), status;
  }
  Status operator()(const std::shared_ptr<ComputeWork>& w) const {
    const Status status = compute(*w);
    if (status == success && doing.as) judge(doing, touched_by(*w));
    return finished(doing.place), status;
  }
  Status operator()(const std::shared_ptr<ConditionalWork>& c) const { return run_conditional(*c, doing); }
};

using Does = order::Operation::Does;
struct Name {
  Does does{};
  std::string text;
};
struct Namer {
  Name operator()(const std::shared_ptr<LaunchWork>& w) const {
    return {Does::kernel, fmt::format("kernel `{}`", w->kernel->name)};
  }
  Name operator()(const Memcpy3D& c) const { return {Does::copy, text_of(c)}; }
  Name operator()(const MemsetNode& m) const {
    return {Does::fill, fmt::format("fill of {} bytes", m.width * m.height * m.element_bytes)};
  }
  Name operator()(const AllocWork& a) const {
    return {Does::allocate, fmt::format("allocation of {} bytes", a.bytes)};
  }
  Name operator()(const std::shared_ptr<ComputeWork>& w) const { return {Does::kernel, text_of(*w)}; }
  Name operator()(const FreeWork&) const { return {Does::free, "cudaFreeAsync"}; }
  Name operator()(const auto&) const { return {}; }
};

}  // namespace

NodeKind kind_of(const Work& work) { return std::visit(Kind{}, work); }
Status run(const Work& work, Doing& doing) { return std::visit(Runner{doing}, work); }

order::OperationRef named(const Work& work, std::string stream) {
  if (!names_operations()) return nullptr;
  Name name = std::visit(Namer{}, work);
  return name.text.empty() ? nullptr : named(name.does, std::move(name.text), std::move(stream));
}

Memcpy3D plain_copy(void* to, const void* from, size_t bytes) {
  Memcpy3D c{};
  c.src_type = c.dst_type = memory_unified;
  c.src_device = reinterpret_cast<Pointer>(from);
  c.dst_device = reinterpret_cast<Pointer>(to);
  c.src_pitch = c.dst_pitch = c.width = bytes;
  c.height = c.depth = 1;
  return c;
}

}  // namespace palladion::cuda::driver
