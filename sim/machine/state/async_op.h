#pragma once
// Asynchronous operations as values: issuer, what it moves, stage. A family's payload has the fields of its
// operations; sim/machine/async executes them, one file a family. A new family is a payload here and its
// functions there: what is missing does not compile.
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "isa/core/footprint.h"
#include "isa/formats/tensor_walk.h"
#include "sim/launch/event.h"
#include "sim/machine/state/bytes.h"

namespace palladion::sim {

struct AsyncOp;
struct ClusterRun;

// memory[i] = op(memory[i], b[i]) for `count` consecutive elements; neither need be aligned.
using ReduceFn = void (*)(uint8_t* memory, const uint8_t* b, size_t count);

// What an operation moves, and between which spaces.
struct Traffic {
  isa::AsyncFamily family = isa::AsyncFamily::none;
  isa::Space source = isa::Space::reg, destination = isa::Space::reg;  // source: of a product, its A
  bool reduces = false;                                                // at the destination
  bool pairs_of_lines = false;     // L2 fetches 256 bytes at once (the map's L2 promotion)
  uint32_t bytes = 0;              // of shared memory, in each CTA
  uint32_t rows = 0, columns = 0;  // matrix products: m, n; copies: rows of the box
  uint64_t products = 0;           // multiplications of a tcgen05.mma, by all CTAs
  uint32_t ctas = 0;               // mask of those that receive
  uint64_t tensor_map = 0;         // its generic address
  std::vector<Piece> global;       // bytes of GMEM, ascending runs

  bool from_global() const { return source == isa::Space::global; }
  bool to_global() const { return destination == isa::Space::global; }
  bool from_registers() const { return source == isa::Space::reg; }
  bool through_tensor_map() const { return family == isa::AsyncFamily::tensor; }
};

// The functions of every payload; these are the defaults. `read` moves the sources into staging
// memory, `land` makes the results visible; an operation whose sources are registers has nothing to read.
struct AsyncPayload {
  // False when it cannot proceed yet.
  bool ready(const ClusterRun&, const AsyncOp&) const { return true; }
  void read(const ClusterRun&, const AsyncOp&) {}
  // True when its order of landing is observable by other clusters (reductions into GMEM, requests for work):
  // then it lands at the quantum boundary, where clusters are serialised.
  bool lands_at_boundary() const { return false; }
};

// cp.async: 4, 8 or 16 bytes a lane; what the source lacks is zero.
struct LaneCopies : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::cp_async;
  struct Copy {
    uint32_t target = 0;
    uint32_t source_bytes = 0;
    uint64_t source = 0;  // in GMEM
    std::array<uint8_t, 16> staging{};
  };
  uint32_t bytes = 0;
  bool moves = true;
  std::vector<Copy> copies;  // of AsyncOp::lanes, lowest first

  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "cp.async"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// cp.async.mbarrier.arrive: arrives when earlier cp.async of its lanes have landed.
struct DeferredArrival : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::deferred_arrival;
  SharedAddress mbarrier;
  std::vector<uint64_t> awaited;  // ids

  bool ready(const ClusterRun& run, const AsyncOp& op) const;
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "cp.async.mbarrier.arrive"; }
  void describe(const AsyncOp&, Traffic&) const {}
};

// cp.async.bulk, cp.reduce.async.bulk: a row of bytes.
struct LinearCopy : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::bulk;
  struct Place {
    isa::Space space = isa::Space::global;
    uint64_t address = 0;  // of shared memory: with the CTA's rank
  };
  Place source, target;
  uint32_t bytes = 0;
  uint32_t ctas = 0;       // that receive
  SharedAddress mbarrier;  // the same offset in each
  bool moves = true;
  uint16_t byte_mask = 0xFFFF;  // of each 16 bytes, those that are written
  ReduceFn reduce = nullptr;
  uint32_t element_bytes = 1;
  StagingBytes staging;

  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  void land_in_global(const ClusterRun& run) const;
  bool lands_at_boundary() const { return reduce != nullptr && target.space == isa::Space::global; }
  const char* name() const { return reduce != nullptr ? "cp.reduce.async.bulk" : "cp.async.bulk"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: one tile. The walk, the map and the shared address were
// checked at issue.
struct TileCopy : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::tensor;
  isa::TensorWalk walk;
  bool load = true;
  Address global_address;
  isa::Swizzle swizzle = isa::Swizzle::none;
  isa::TensorDataType type = isa::TensorDataType::u8;
  isa::OobFill fill = isa::OobFill::zero;
  isa::L2Promotion l2_promotion = isa::L2Promotion::none;
  SharedAddress shared;     // address of the tile
  uint64_t tensor_map = 0;  // its generic address
  bool moves = true;        // false: the bytes stay where they are, see MicroOp
  // Loads: the CTAs that receive, and the mbarrier's address, the same offset in each. With `pairs` (the load
  // is .cta_group::2) the bytes of a CTA count in that one of its pair whose rank has the parity of the
  // address'.
  uint32_t ctas = 0;
  SharedAddress mbarrier;
  bool pairs = false;
  // Stores: nullptr for a plain copy.
  ReduceFn reduce = nullptr;
  uint32_t element_bytes = 1;
  StagingBytes tile;

  explicit TileCopy(const isa::TensorWalk& box) : walk(box) {}
  // That counts the bytes which CTA `rank` receives.
  SharedAddress mbarrier_of(CtaRank rank) const;
  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  bool lands_at_boundary() const { return reduce != nullptr; }
  const char* name() const;
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// st.async, red.async: values of registers, at most 16 bytes a lane; each lane counts its bytes at its
// mbarrier.
struct RemoteStores : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::remote_store;
  struct Store {
    SharedAddress target, mbarrier;
    std::array<uint8_t, 16> value{};
  };
  uint32_t bytes = 0;
  ReduceFn reduce = nullptr;
  bool moves = true;
  std::vector<Store> stores;  // of AsyncOp::lanes, lowest first

  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return reduce != nullptr ? "red.async" : "st.async"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// Rows of raw elements as the tensor core's decoders require them.
struct RawTile {
  std::vector<uint8_t> bytes;
  size_t stride = 0;
};

// wgmma: one product of the four warps of a warpgroup. Its instruction is the one that AsyncOp names.
struct WarpgroupProduct : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::wgmma;
  uint64_t sequence = 0;  // of the warpgroup's products
  uint32_t issued = 0;    // warps that have issued it, a bit each
  uint64_t a_desc = 0, b_desc = 0;
  uint32_t m = 0, n = 0;
  bool a_in_registers = false;
  bool zero_c = false;
  bool moves = true;  // see MicroOp
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false;
  bool chained = false;  // the accumulators are in the warpgroup's tile already
  RawTile a, b;
  std::vector<uint64_t> selected;  // of a sparse A, by rows

  bool ready(const ClusterRun& run, const AsyncOp& op) const;
  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "wgmma"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// tcgen05.mma: one product of a CTA, or of the two of a pair.
struct TensorProduct : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::tcgen05;
  uint32_t d = 0, a_tensor = 0, scale_a = 0, scale_b = 0, metadata = 0;  // addresses of tensor memory
  uint64_t a_desc = 0, b_desc = 0;
  uint32_t idesc = 0;
  uint32_t leader = 0;  // rank of the first CTA that takes part
  uint32_t m = 0, n = 0, k = 0;
  uint32_t rows = 0, columns = 0, shared_bytes = 0,
           ctas = 0;  // of D and of operands in each CTA; which (a mask)
  bool a_in_tensor_memory = false;
  bool zero_c = false;
  bool moves = true;
  int input_scale = 0;
  uint64_t zero_columns = 0;           // descriptor of the columns of B that count as zero; 0: none
  std::array<uint32_t, 8> disabled{};  // lanes that are not written: four words for each CTA
  struct Operand {
    RawTile tile;
    std::vector<uint8_t> scales;     // of block-scaled kinds, by rows
    std::vector<uint64_t> selected;  // of a sparse A, by rows
  };
  std::array<Operand, 2> a, b;  // of the CTAs

  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "tcgen05.mma"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// tcgen05.cp: rows of shared memory to lanes of tensor memory, in each of the CTAs.
struct TensorCopyIn : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::tcgen05;
  uint32_t target = 0;
  uint64_t descriptor = 0;
  uint32_t leader = 0, ctas = 1, bytes = 0;  // of each CTA
  bool moves = true;
  std::array<std::vector<uint8_t>, 2> rows;  // of 16 or 32 bytes

  void read(const ClusterRun& run, const AsyncOp& op);
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "tcgen05.cp"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

// tcgen05.commit: arrives when the operations that its thread has issued have landed.
struct TensorCommit : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::tcgen05_commit;
  SharedAddress mbarrier;
  uint32_t ctas = 0;  // that it signals, at the same offset; 0: the address has its rank
  std::vector<uint64_t> awaited;

  bool ready(const ClusterRun& run, const AsyncOp& op) const;
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "tcgen05.commit"; }
  void describe(const AsyncOp&, Traffic&) const {}
};

// clusterlaunchcontrol.try_cancel: asks for a cluster that has not started, in an order over all clusters.
struct ClusterRequest : AsyncPayload {
  static constexpr isa::AsyncFamily family = isa::AsyncFamily::cluster_launch;
  static constexpr uint32_t bytes = 16;  // of an answer
  SharedAddress response, mbarrier;      // shared addresses, the same offsets in each of
  uint32_t ctas = 0;                     // those that receive

  bool lands_at_boundary() const { return true; }
  void land(const ClusterRun& run, const AsyncOp& op);
  const char* name() const { return "clusterlaunchcontrol.try_cancel"; }
  void describe(const AsyncOp& op, Traffic& traffic) const;
};

using AsyncPayloads =
    std::variant<LaneCopies, DeferredArrival, LinearCopy, TileCopy, RemoteStores, WarpgroupProduct,
                 TensorProduct, TensorCopyIn, TensorCommit, ClusterRequest>;

struct AsyncOp {
  enum class Stage : uint8_t { issued, read };
  uint64_t id = 0;
  Stage stage = Stage::issued;
  isa::AsyncGroup group = isa::AsyncGroup::none;  // in which its issuers wait for it; none: at an mbarrier
  // The first warp that issued it, with the lanes; its instruction.
  CtaRank cta_rank;
  WarpOfCta warp;
  uint32_t lanes = 0;
  Pc pc;
  AsyncPayloads payload;

  isa::AsyncFamily family() const;
  bool lands_at_boundary() const;
  bool ready(const ClusterRun& run) const;
  Traffic traffic() const;
};

// What the operations of a family have in common.
struct AsyncFamilyTraits {
  isa::Participants participants = isa::Participants::lanes;  // that issue an operation together
  isa::Proxy proxy = isa::Proxy::async;                       // of its accesses of memory
  bool in_order = false;  // those of the same participants run one after the other
};
constexpr AsyncFamilyTraits traits(isa::AsyncFamily family) {
  using F = isa::AsyncFamily;
  switch (family) {
    case F::none:
      break;
    case F::cp_async:
    case F::deferred_arrival:
    case F::remote_store:
      return {.proxy = isa::Proxy::generic};
    case F::bulk:
    case F::tensor:
      return {};
    case F::wgmma:
      return {.participants = isa::Participants::warpgroup, .in_order = true};
    case F::tcgen05:
      return {.in_order = true};
    case F::tcgen05_commit:
    case F::cluster_launch:
      return {};
  }
  return {};
}

// Whether the later of two tcgen05 operations runs behind the earlier one: the tensor core takes a thread's
// products and copies one after the other. PTX promises that for some pairs alone ("tcgen05 Memory
// Consistency Model": pipelined instructions), by which the checkers judge; the block scales of CUTLASS and
// Triton rely on a copy behind a product.
bool are_pipelined(const AsyncOp& earlier, const AsyncOp& later);

// Whether the later of two operations waits for the earlier one. `mma_warps`: of a warpgroup.
inline bool run_in_order(const AsyncOp& a, const AsyncOp& b, uint32_t mma_warps) {
  if (b.family() == isa::AsyncFamily::tcgen05) return are_pipelined(a, b);
  return a.family() == b.family() && traits(a.family()).in_order && a.cta_rank == b.cta_rank &&
         a.warp / mma_warps == b.warp / mma_warps;
}

}  // namespace palladion::sim
