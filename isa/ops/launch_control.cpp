// Cluster launch control: sm_100 (PTX, "Parallel Synchronization and Communication Instructions:
// clusterlaunchcontrol").
#include "isa/ops/decode.h"

namespace palladion::isa {

Footprint TryCancel::footprint() const {
  return {.memory = {{.space = Space::shared_cta,
                      .proxy = Proxy::async,
                      .writes = true,
                      .address = address,
                      .bytes = 16}},
          .control = {address, mbar},
          .async = {.role = Async::Role::issues, .family = AsyncFamily::cluster_launch, .mbarrier = mbar}};
}

Footprint QueryCancel::footprint() const { return {.values = Values::lane_wise}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

Effect try_cancel(const Instruction& i, const DecodeContext&) {
  return TryCancel{.space = decode::space(i),
                   .multicast = i.has("multicast::cluster::all"),
                   .address = decode::index(i, "a"),
                   .mbar = decode::index(i, "mbar")};
}

Effect query_cancel(const Instruction& i, const DecodeContext&) {
  const std::string_view part = i.mod("part");
  return QueryCancel{.canceled = decode::index(i, "p"),
                     .ctaid = decode::index(i, "d"),
                     .dimension = part.empty() ? -1 : part.back() - 'x',
                     .response = decode::index(i, "response")};
}

}  // namespace

std::vector<OpDef> launch_control() {
  return {
      OpDef{
          "clusterlaunchcontrol",
          "Asks for the work of a cluster that has not started, asynchronously. Parallel Synchronization and "
          "Communication Instructions: clusterlaunchcontrol.try_cancel.",
          {"[8.6 sm_100] "
           "clusterlaunchcontrol.try_cancel.async{.space:shared::cta}.mbarrier::complete_tx::bytes"
           ".b128 a:mem, mbar:mem",
           "[8.6 sm_100f] "
           "clusterlaunchcontrol.try_cancel.async{.space:shared::cta}.mbarrier::complete_tx::bytes"
           ".multicast::cluster::all.b128 a:mem, mbar:mem"},
          Timing{Unit::sync, "clusterlaunchcontrol"},
          try_cancel},
      OpDef{
          "clusterlaunchcontrol",
          "Reads the answer: whether the work was given, and of which cluster. Parallel Synchronization and "
          "Communication Instructions: clusterlaunchcontrol.query_cancel.",
          {"[8.6 sm_100] clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 =p:pred, response:b128",
           "[8.6 sm_100] clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 =d:b32^4, "
           "response:b128",
           "[8.6 sm_100] clusterlaunchcontrol.query_cancel.part:get_first_ctaid::x|get_first_ctaid::y|"
           "get_first_ctaid::z.b32.b128 =d:b32, response:b128"},
          Timing{Unit::alu, "clusterlaunchcontrol"},
          query_cancel},
  };
}

}  // namespace palladion::isa::ops
