#include "isa/core/footprint.h"

#include <algorithm>

namespace palladion::isa {
namespace {

using Object = Sync::Object;
using Role = Async::Role;

uint32_t size_of(Type type, int elements) { return static_cast<uint32_t>(bytes(type) * elements); }

// Eight lanes give the rows of a matrix.
uint32_t row_lanes(int matrices) { return matrices >= 4 ? ~0U : (1U << 8 * matrices) - 1; }

Participants with_members(int members) { return members >= 0 ? Participants::warp : Participants::lanes; }

// --- values ---------------------------------------------------------------------------------------
Footprint of(const Pure& e) {
  return {.values = Values::lane_wise, .reads_carry = e.reads_carry, .writes_carry = e.writes_carry};
}
Footprint of(const Approx&) { return {.values = Values::lane_wise}; }
Footprint of(const ConvertAddress&) { return {.values = Values::lane_wise}; }
Footprint of(const IsSpace&) { return {.values = Values::lane_wise}; }
Footprint of(const MapShared&) { return {.values = Values::lane_wise}; }
Footprint of(const GetCtaRank&) { return {.values = Values::lane_wise}; }

// --- control --------------------------------------------------------------------------------------
Footprint of(const Branch&) { return {.next = Control::branches}; }
Footprint of(const BranchIndexed& e) { return {.control = {e.index}, .next = Control::branches}; }
Footprint of(const Call& e) { return {.control = {e.function}, .next = Control::calls}; }
Footprint of(const Return&) { return {.next = Control::returns}; }
Footprint of(const Exit&) { return {.next = Control::exits}; }
Footprint of(const Trap&) { return {.next = Control::traps}; }
Footprint of(const Unsupported&) { return {.next = Control::traps}; }
Footprint of(const Nanosleep& e) { return {.control = {e.duration}}; }

// --- memory ---------------------------------------------------------------------------------------
Footprint of(const Load& e) {
  return {.values = Values::loaded,
          .memory =
              {{.space = e.space, .reads = true, .address = e.address, .bytes = size_of(e.type, e.elements)}},
          .order = e.order,
          .scope = e.scope};
}
Footprint of(const Store& e) {
  return {.values = Values::stored,
          .memory = {{.space = e.space,
                      .writes = true,
                      .address = e.address,
                      .bytes = size_of(e.type, e.elements)}},
          .order = e.order,
          .scope = e.scope};
}
Footprint of(const Atomic& e) {
  return {.values = Values::combined,
          .memory = {{.space = e.space,
                      .reads = true,
                      .writes = true,
                      .address = e.address,
                      .bytes = size_of(e.type, e.elements)}},
          .order = e.order,
          .scope = e.scope};
}
Footprint of(const Prefetch&) { return {.hint = true}; }

Footprint of(const Fence& e) {
  Footprint f{.control = {e.size},
              .order = e.proxy ? Order::weak : e.order,
              .scope = e.scope,
              .sync = {.object = Object::fence}};
  if (e.copy_from < 0) return f;
  f.participants = Participants::warp;
  f.memory = {{.space = Space::shared_cta,
               .content = Content::tensor_map,
               .reads = true,
               .address = e.copy_from,
               .size = e.size},
              {.space = Space::global,
               .content = Content::tensor_map,
               .writes = true,
               .address = e.address,
               .size = e.size}};
  return f;
}

// --- warp -----------------------------------------------------------------------------------------
Footprint exchange(int members) {
  return {.values = Values::combined,
          .control = {members},
          .members = members,
          .participants = with_members(members)};
}
Footprint of(const Shuffle& e) { return exchange(e.members); }
Footprint of(const Vote& e) { return exchange(e.members); }
Footprint of(const Match& e) { return exchange(e.members); }
Footprint of(const Redux& e) { return exchange(e.members); }
Footprint of(const Elect& e) {
  return {.control = {e.members}, .members = e.members, .participants = with_members(e.members)};
}
Footprint of(const ActiveMask&) { return {}; }
Footprint of(const WarpSync& e) {
  return {.control = {e.members},
          .members = e.members,
          .participants = Participants::warp,
          .sync = {.object = Object::warp, .arrives = true, .waits = true}};
}
Footprint of(const LoadMatrix& e) {
  return {
      .values = Values::tensor,
      .memory =
          {{.space = e.space, .reads = true, .address = e.address, .bytes = 16, .lanes = row_lanes(e.count)}},
      .participants = Participants::warp};
}
Footprint of(const StoreMatrix& e) {
  return {.values = Values::tensor,
          .memory = {{.space = e.space,
                      .writes = true,
                      .address = e.address,
                      .bytes = 16,
                      .lanes = row_lanes(e.count)}},
          .participants = Participants::warp};
}
Footprint of(const MoveMatrix&) { return {.values = Values::combined, .participants = Participants::warp}; }

// --- barriers -------------------------------------------------------------------------------------
Footprint of(const CtaBarrier& e) {
  return {.values = Values::combined,
          .control = {e.id, e.threads},
          .participants = Participants::cta,
          .order = Order::acq_rel,
          .sync = {.object = Object::cta_barrier,
                   .arrives = true,
                   .waits = e.action != BarrierAction::arrive,
                   .operand = e.id}};
}
Footprint of(const ClusterBarrier& e) {
  return {.participants = Participants::cluster,
          .order = e.order,
          .scope = Scope::cluster,
          .sync = {.object = Object::cluster_barrier, .arrives = e.arrive, .waits = !e.arrive}};
}
Footprint of(const Mbarrier& e) {
  using A = MbarrierAction;
  return {.control = {e.count, e.state, e.time_hint},
          .order = e.order,
          .scope = e.scope,
          .sync = {.object = Object::mbarrier,
                   .arrives = e.action == A::arrive,
                   .waits = e.action == A::test_wait || e.action == A::try_wait,
                   .initialises = e.action == A::init,
                   .expects_bytes = e.expect_tx || e.action == A::expect_tx,
                   .completes_bytes = e.action == A::complete_tx,
                   .space = e.space,
                   .operand = e.address}};
}

// --- asynchronous copies --------------------------------------------------------------------------
AsyncGroup group_of(Completion c) {
  return c == Completion::bulk_group ? AsyncGroup::bulk : AsyncGroup::none;
}

Footprint of(const CpAsync& e) {
  const auto size = static_cast<uint32_t>(e.bytes);
  return {.values = Values::tensor,
          .memory = {{.space = Space::global, .reads = true, .address = e.src, .bytes = size},
                     {.space = Space::shared_cta, .writes = true, .address = e.dst, .bytes = size}},
          .control = {e.src_size, e.ignore_src},
          .async = {.role = Role::issues, .family = AsyncFamily::cp_async, .group = AsyncGroup::cp_async}};
}
Footprint of(const CpAsyncCommit&) {
  return {.async = {.role = Role::commits, .family = AsyncFamily::cp_async, .group = AsyncGroup::cp_async}};
}
Footprint of(const CpAsyncWait& e) {
  return {.async = {.role = Role::waits,
                    .family = AsyncFamily::cp_async,
                    .group = AsyncGroup::cp_async,
                    .groups_left = e.all ? 0 : e.n}};
}
Footprint of(const CpAsyncMbarrierArrive& e) {
  return {.async = {.role = Role::issues, .family = AsyncFamily::deferred_arrival, .mbarrier = e.address}};
}
Footprint of(const BulkCopy& e) {
  const MemoryUse source{
      .space = e.src_space, .proxy = Proxy::async, .reads = true, .address = e.src, .size = e.size};
  const MemoryUse destination{.space = e.dst_space,
                              .proxy = Proxy::async,
                              .reads = e.op != BulkOp::copy,
                              .writes = true,
                              .address = e.dst,
                              .size = e.size};
  MemoryUses uses{source, destination};
  if (e.prefetch) uses = {source};
  return {.values = Values::tensor,
          .memory = uses,
          .control = {e.size, e.cta_mask, e.byte_mask},
          .async = {.role = Role::issues,
                    .family = AsyncFamily::bulk,
                    .group = group_of(e.completion),
                    .mbarrier = e.mbar}};
}
Footprint of(const TensorCopy& e) {
  const MemoryUse global{.space = Space::global,
                         .proxy = Proxy::async,
                         .reads = e.load || e.op != BulkOp::copy,
                         .writes = !e.load,
                         .address = e.tensor};
  const MemoryUse shared{.space = e.load ? e.dst_space : Space::shared_cta,
                         .proxy = Proxy::async,
                         .reads = !e.load,
                         .writes = e.load,
                         .address = e.shared};
  const MemoryUse map{
      .proxy = Proxy::tensormap, .content = Content::tensor_map, .reads = true, .address = e.tensor};
  MemoryUses uses{e.load ? global : shared, e.load ? shared : global, map};
  if (e.prefetch) uses = {global, map};
  return {.values = Values::tensor,
          .memory = uses,
          .control = {e.cta_mask, e.im2col_offsets},
          .async = {.role = Role::issues,
                    .family = AsyncFamily::tensor,
                    .group = group_of(e.completion),
                    .mbarrier = e.mbar}};
}
Footprint of(const BulkCommit&) {
  return {.async = {.role = Role::commits, .family = AsyncFamily::bulk, .group = AsyncGroup::bulk}};
}
Footprint of(const BulkWait& e) {
  return {.async = {.role = Role::waits,
                    .family = AsyncFamily::bulk,
                    .group = AsyncGroup::bulk,
                    .reads_only = e.read,
                    .groups_left = e.n}};
}
Footprint of(const StoreAsync& e) {
  return {.values = Values::stored,
          .memory = {{.space = Space::shared_cluster,
                      .writes = true,
                      .address = e.address,
                      .bytes = size_of(e.type, e.elements)}},
          .async = {.role = Role::issues, .family = AsyncFamily::remote_store, .mbarrier = e.mbar}};
}
Footprint of(const ReduceAsync& e) {
  return {.values = Values::combined,
          .memory = {{.space = Space::shared_cluster,
                      .reads = true,
                      .writes = true,
                      .address = e.address,
                      .bytes = size_of(e.type, 1)}},
          .async = {.role = Role::issues, .family = AsyncFamily::remote_store, .mbarrier = e.mbar}};
}
Footprint of(const TensormapReplace& e) {
  return {.memory = {{.space = e.space,
                      .content = Content::tensor_map,
                      .reads = true,
                      .writes = true,
                      .address = e.address,
                      .bytes = 128}},
          .control = {e.ordinal, e.value}};
}

// --- matrix ---------------------------------------------------------------------------------------
template <class M>
uint32_t products(const M& e) {
  return static_cast<uint32_t>(e.m * e.n * e.k);
}

Footprint wgmma_group(Role role, int groups_left = 0) {
  return {.participants = Participants::warpgroup,
          .async = {.role = role,
                    .family = AsyncFamily::wgmma,
                    .group = AsyncGroup::wgmma,
                    .groups_left = groups_left}};
}
Footprint of(const Wgmma& e) {
  Footprint f = wgmma_group(Role::issues);
  const auto matrix = [](int descriptor) {
    return MemoryUse{.space = Space::shared_cta, .proxy = Proxy::async, .reads = true, .address = descriptor};
  };
  f.values = Values::tensor;
  if (e.a_desc >= 0)
    f.memory = {matrix(e.a_desc), matrix(e.b_desc)};
  else
    f.memory = {matrix(e.b_desc)};
  f.control = {e.a_desc, e.b_desc, e.scale_d};
  f.products = products(e);
  return f;
}
Footprint of(const WgmmaFence&) { return wgmma_group(Role::orders); }
Footprint of(const WgmmaCommit&) { return wgmma_group(Role::commits); }
Footprint of(const WgmmaWait& e) { return wgmma_group(Role::waits, e.n); }
Footprint of(const Mma& e) {
  return {.values = Values::tensor, .participants = Participants::warp, .products = products(e)};
}

// --- the rest -------------------------------------------------------------------------------------
Footprint of(const SetMaxRegisters& e) {
  return {.participants = Participants::warpgroup,
          .sync = {.object = Object::registers, .arrives = !e.increase, .waits = e.increase}};
}
Footprint of(const GridDependency& e) {
  return {.sync = {.object = Object::grid, .arrives = !e.wait, .waits = e.wait}};
}

bool may_mean(Space stated, Space space) { return stated == space || stated == Space::generic; }

}  // namespace

Footprint footprint(const Effect& effect) {
  return std::visit([](const auto& e) { return of(e); }, effect);
}

const MemoryUse* Footprint::read() const {
  const auto* found = std::ranges::find_if(memory, &MemoryUse::reads);
  return found == memory.end() ? nullptr : found;
}
const MemoryUse* Footprint::written() const {
  const auto* found = std::ranges::find_if(memory, &MemoryUse::writes);
  return found == memory.end() ? nullptr : found;
}
bool Footprint::writes_memory() const { return written() != nullptr; }

bool Footprint::reads(Space space) const {
  return std::ranges::any_of(memory, [&](const MemoryUse& m) { return m.reads && may_mean(m.space, space); });
}
bool Footprint::writes(Space space) const {
  return std::ranges::any_of(memory,
                             [&](const MemoryUse& m) { return m.writes && may_mean(m.space, space); });
}

bool Footprint::uses(Proxy proxy) const {
  return std::ranges::any_of(memory, [&](const MemoryUse& m) { return m.proxy == proxy; });
}

bool Footprint::registers_only() const {
  const auto is_constant = [](const MemoryUse& m) {
    return !m.writes && (m.space == Space::param || m.space == Space::const_);
  };
  const bool orders_nothing =
      at(Object::none) || at(Object::registers) || at(Object::grid);  // of one grid at a time
  return orders_nothing && async.role == Role::none && next != Control::calls && next != Control::traps &&
         std::ranges::all_of(memory, is_constant);
}

bool Footprint::acquires() const {
  return (order == Order::acquire || order == Order::acq_rel || order == Order::sc) &&
         (at(Object::none) || at(Object::fence) || sync.waits);
}
bool Footprint::releases() const {
  return (order == Order::release || order == Order::acq_rel || order == Order::sc) &&
         (at(Object::none) || at(Object::fence) || sync.arrives);
}

}  // namespace palladion::isa
