// What a stream or a graph does: one operation each.
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
};

struct Runner {
  // What came before is done: there is nothing to wait for.
  Status operator()(const EmptyWork&) const { return success; }
  Status operator()(const WaitWork&) const { return success; }
  Status operator()(const std::shared_ptr<LaunchWork>& w) const { return perform(*w); }
  Status operator()(const Memcpy3D& c) const { return copy_3d(c); }
  Status operator()(const MemsetNode& m) const {
    return fill(m.dst, m.pitch, m.value, m.element_bytes, m.width, m.height);
  }
  Status operator()(const HostNode& h) const {
    show_printed();
    return h.fn(h.data), success;
  }
  Status operator()(const std::shared_ptr<Graph>& g) const { return run_graph(*g); }
  Status operator()(const RecordWork& r) const {
    r.event->recorded = true;
    r.event->us = now_us();
    return success;
  }
  Status operator()(const AllocWork& a) const { return run_allocation(a); }
  Status operator()(const FreeWork& f) const { return run_free(f); }
  Status operator()(const std::shared_ptr<ConditionalWork>& c) const { return run_conditional(*c); }
};

}  // namespace

NodeKind kind_of(const Work& work) { return std::visit(Kind{}, work); }
Status run(const Work& work) { return std::visit(Runner{}, work); }

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
