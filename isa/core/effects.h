#pragma once
// What an instruction does, decoded once from its words. The machine performs it, checkers order it,
// the clock computes its cost; the words are not read again. Operands are indices into
// Instruction::operands; -1 means absent.
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "isa/core/types.h"

namespace palladion::isa {

struct Footprint;  // isa/core/footprint.h; an effect's is stated beside its decoder in isa/ops

// --- values -------------------------------------------------------------------------------------
// Registers of one warp live as arrays of 32 lanes: uint8_t/uint16_t/uint32_t/uint64_t[32] by the
// register's width (b128: uint64_t[64], low half of lane i at 2i), predicates as one uint32_t mask.
// Vector operands ({a,b}) are flattened: destinations first to last in d, sources likewise in s.
struct LaneArgs {
  void* d[8];
  const void* s[8];
  uint32_t mask;  // lanes to write; others keep their value
};
using LanesFn = void (*)(const LaneArgs&);

// d = f(s), lane by lane. With `writes_carry` the carry flag (a predicate mask) is one more
// destination after the others; with `reads_carry` one more source; `constant` is one more source of 64 bits
// before the others.
struct Pure {
  LanesFn fn = nullptr;
  bool reads_carry = false, writes_carry = false;
  std::optional<uint64_t> constant = std::nullopt;
  Footprint footprint() const;
};

// A function that the chip approximates (MUFU and what ptxas builds on it): operands as a Pure of the
// same form. The machine defines the bits (sim/numerics/special).
enum class ApproxOp : uint8_t { rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, div, div_full };
struct Approx {
  ApproxOp op = ApproxOp::rcp;
  Type type = Type::f32;  // f32, f64 (rcp, rsqrt), f16, f16x2, bf16, bf16x2
  bool ftz = false;
  Footprint footprint() const;
};

// --- control ------------------------------------------------------------------------------------
struct Branch {
  int target = 0;
  bool uniform = false;
  Footprint footprint() const;
};
struct BranchIndexed {
  int index = 0, targets = 1;
  bool uniform = false;
  Footprint footprint() const;
};
struct Call {
  int function = 0, returns = -1, arguments = -1;
  Footprint footprint() const;
};  // function: symbol or register (indirect)
struct Return {
  Footprint footprint() const;
};
struct Exit {
  Footprint footprint() const;
};
struct Trap {
  bool breakpoint = false;
  Footprint footprint() const;
};
// alloca, stacksave, stackrestore: local memory of the thread's stack.
enum class StackAction : uint8_t { allocate, save, restore };
struct Stack {
  StackAction action = StackAction::allocate;
  int dst = -1, value = -1;  // value: the size, or the pointer to restore
  uint32_t align = 8;
  Footprint footprint() const;
};
struct Nanosleep {
  int duration = 0;
  Footprint footprint() const;
};

// --- memory -------------------------------------------------------------------------------------
struct Load {
  Space space = Space::generic;
  Type type = Type::b32;  // of one element in memory
  int elements = 1;
  Order order = Order::weak;
  Scope scope = Scope::cta;
  bool non_coherent = false;  // ld.global.nc
  int dst = 0, address = 1;
  Footprint footprint() const;
};
struct Store {
  Space space = Space::generic;
  Type type = Type::b32;
  int elements = 1;
  Order order = Order::weak;
  Scope scope = Scope::cta;
  int address = 0, src = 1;
  Footprint footprint() const;
};
enum class AtomicOp : uint8_t { add, sub, min, max, inc, dec, and_, or_, xor_, exch, cas };
struct StoreBulk {  // st.bulk: zeros in shared memory
  Space space = Space::generic;
  int address = 0, size = 1;
  Footprint footprint() const;
};
struct Atomic {  // atom (dst >= 0) and red (dst = -1)
  AtomicOp op = AtomicOp::add;
  Space space = Space::generic;
  Type type = Type::u32;
  int elements = 1;  // atom.v2/.v4 of f32, f16, bf16
  Order order = Order::relaxed;
  Scope scope = Scope::gpu;
  bool noftz = false;
  int dst = 0, address = 1, b = 2, c = -1;
  Footprint footprint() const;
};
struct Prefetch {
  int address = 0;
  Footprint footprint() const;
};  // prefetch, discard, applypriority: no visible effect on values
struct Fence {
  Order order = Order::acq_rel;
  Scope scope = Scope::cta;
  // Proxy fences (fence.proxy.*): generic<->async on a window, or tensormap.
  bool proxy = false;
  Proxy to = Proxy::generic;
  Space window = Space::generic;  // of fence.proxy.async.SPACE
  bool alias = false;
  bool mbarrier_init = false;   // fence.mbarrier_init.release.cluster
  int address = -1, size = -1;  // fence.proxy.tensormap::generic.acquire [a], n
  int copy_from = -1;  // tensormap.cp_fenceproxy: first copies `size` bytes of shared memory to `address`
  Footprint footprint() const;
};
struct ConvertAddress {
  Space space = Space::global;
  bool to_generic = false;
  int dst = 0, src = 1;
  Type type = Type::u64;
  Footprint footprint() const;
};
struct IsSpace {
  Space space = Space::global;
  int dst = 0, address = 1;
  Footprint footprint() const;
};
struct MapShared {
  bool generic = false;
  Type type = Type::u64;
  int dst = 0, address = 1, rank = 2;
  Footprint footprint() const;
};  // mapa
struct GetCtaRank {
  bool generic = false;
  Type type = Type::u64;
  int dst = 0, address = 1;
  Footprint footprint() const;
};

// --- warp ---------------------------------------------------------------------------------------
enum class ShuffleMode : uint8_t { up, down, bfly, idx };
struct Shuffle {
  ShuffleMode mode;
  int dst = 0, in_range = -1, value = 1, lane = 2, clamp = 3, members = -1;
  Footprint footprint() const;
};
enum class VoteMode : uint8_t { all, any, uni, ballot };
struct Vote {
  VoteMode mode;
  int dst = 0, pred = 1, members = -1;
  Footprint footprint() const;
};
struct Match {
  bool all = false;
  Type type = Type::b32;
  int dst = 0, pred = -1, value = 1, members = 2;
  Footprint footprint() const;
};
enum class ReduxOp : uint8_t { add, min, max, and_, or_, xor_ };
struct Redux {
  ReduxOp op;
  Type type = Type::u32;
  int dst = 0, value = 1, members = 2;
  bool abs = false, nan = false;
  Footprint footprint() const;
};
struct Elect {
  int dst = 0, pred = 1, members = 2;
  Footprint footprint() const;
};
struct ActiveMask {
  int dst = 0;
  Footprint footprint() const;
};
struct WarpSync {
  int members = 0;
  Footprint footprint() const;
};
struct LoadMatrix {
  int count = 1;
  bool transposed = false;
  Type type = Type::b16;
  Space space = Space::shared_cta;
  int dst = 0, address = 1;
  Footprint footprint() const;
};
struct StoreMatrix {
  int count = 1;
  bool transposed = false;
  Type type = Type::b16;
  Space space = Space::shared_cta;
  int address = 0, src = 1;
  Footprint footprint() const;
};
struct MoveMatrix {
  int dst = 0, src = 1;
  Footprint footprint() const;
};  // movmatrix.sync.aligned.m8n8.trans.b16

// --- barriers -----------------------------------------------------------------------------------
enum class BarrierAction : uint8_t { sync, arrive, red_popc, red_and, red_or };
struct CtaBarrier {
  BarrierAction action;
  bool aligned = true;
  int id = -1, threads = -1, dst = -1, pred = -1;
  Footprint footprint() const;
};
struct ClusterBarrier {
  bool arrive = true;
  Order order = Order::release;
  bool aligned = false;
  Footprint footprint() const;
};
enum class MbarrierAction : uint8_t {
  init,
  inval,
  expect_tx,
  complete_tx,
  arrive,
  test_wait,
  try_wait,
  pending_count
};
struct Mbarrier {
  MbarrierAction action;
  Space space = Space::shared_cta;  // of the barrier's address
  Order order = Order::release;
  Scope scope = Scope::cta;
  bool expect_tx = false;  // arrive.expect_tx
  bool drop = false;       // arrive_drop
  bool no_complete = false;
  bool parity = false;  // test_wait.parity, try_wait.parity
  int dst = -1;         // state or predicate
  int address = -1;
  int count = -1;  // init: expected count; arrive: count or tx bytes; expect_tx: bytes
  int state = -1;  // test/try_wait: state or phase parity; pending_count: state
  int time_hint = -1;
  Footprint footprint() const;
};

// --- async copies -------------------------------------------------------------------------------
struct CpAsync {
  int bytes = 16;
  int dst = 0, src = 1, src_size = -1, ignore_src = -1;
  Footprint footprint() const;
};
struct CpAsyncCommit {
  Footprint footprint() const;
};
struct CpAsyncWait {
  bool all = false;
  int n = -1;
  Footprint footprint() const;
};
struct CpAsyncMbarrierArrive {
  bool noinc = false;
  Space space = Space::shared_cta;
  int address = 0;
  Footprint footprint() const;
};

enum class Completion : uint8_t { none, mbarrier, bulk_group };
enum class BulkOp : uint8_t { copy, add, min, max, inc, dec, and_, or_, xor_ };
struct BulkCopy {  // cp.async.bulk and cp.reduce.async.bulk, linear
  Space dst_space = Space::shared_cluster, src_space = Space::global;
  Completion completion = Completion::mbarrier;
  BulkOp op = BulkOp::copy;
  Type type = Type::b8;  // of a reduction
  bool noftz = false;
  bool prefetch = false;  // cp.async.bulk.prefetch.L2
  int dst = 0, src = 1, size = 2, mbar = -1, cta_mask = -1, byte_mask = -1;
  Footprint footprint() const;
};
enum class TensorMode : uint8_t { tile, gather4, scatter4, im2col, im2col_w, im2col_w_128 };
struct TensorCopy {  // cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, prefetch.tensor
  int rank = 2;
  TensorMode mode = TensorMode::tile;
  bool load = true;  // global -> shared
  Completion completion = Completion::mbarrier;
  BulkOp op = BulkOp::copy;
  bool prefetch = false;
  Space dst_space = Space::shared_cluster;
  int shared = 0;  // operand [dstMem] or [srcMem]
  int tensor = 1;  // operand [tensorMap, {coordinates}]
  int mbar = -1, cta_mask = -1;
  int im2col_offsets = -1;  // of im2col_w and im2col_w_128: halo and offset
  int cta_group = 1;        // of loads: with 2 the mbarrier may be in either CTA of a destination's pair
  Footprint footprint() const;
};
struct BulkCommit {
  Footprint footprint() const;
};
struct BulkWait {
  bool read = false;
  int n = 0;
  Footprint footprint() const;
};
struct StoreAsync {
  Type type = Type::b32;
  int elements = 1;
  int address = 0, src = 1, mbar = 2;
  Footprint footprint() const;
};
struct ReduceAsync {
  AtomicOp op;
  Type type = Type::u32;
  int address = 0, src = 1, mbar = 2;
  Footprint footprint() const;
};
// The field that tensormap.replace writes; isa/formats/tensor_map.h states its place.
enum class TensorMapField : uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
  swizzle_atomicity
};
struct TensormapReplace {
  TensorMapField field;
  Space space = Space::generic;
  Type type = Type::b32;
  int address = 0, ordinal = -1, value = 1;
  Footprint footprint() const;
};

// --- matrix -------------------------------------------------------------------------------------
struct Wgmma {
  int m = 64, n = 8, k = 16;
  Type d = Type::f32, a = Type::f16, b = Type::f16;
  bool sparse = false, satfinite = false;
  int acc = 0;      // vector operand
  int a_desc = -1;  // 64-bit descriptor
  int a_regs = -1;  // or vector of registers
  int b_desc = 2;
  int scale_d = -1;                                            // predicate operand; absent = accumulate
  int scale_a = -1, scale_b = -1, trans_a = -1, trans_b = -1;  // immediates
  int metadata = -1, selector = -1;
  Footprint footprint() const;
};
struct WgmmaFence {
  Footprint footprint() const;
};
struct WgmmaCommit {
  Footprint footprint() const;
};
struct WgmmaWait {
  int n = 0;
  Footprint footprint() const;
};
enum class MmaRounding : uint8_t { nearest, zero, down, up };
struct Mma {  // mma.sync
  int m = 16, n = 8, k = 16;
  Type d = Type::f32, a = Type::f16, b = Type::f16, c = Type::f32;
  bool a_row = true, b_col = true, satfinite = false, sparse = false, xor_popc = false;
  MmaRounding rounding = MmaRounding::nearest;  // of f64
  int dst = 0, ra = 1, rb = 2, rc = 3, metadata = -1, selector = -1;
  Footprint footprint() const;
};

// wmma: fragments whose layout PTX leaves open; isa/formats/wmma_fragments.h has the chip's.
enum class WmmaMatrix : uint8_t { a, b, c };
struct WmmaLoad {
  int m = 16, n = 16, k = 16;
  WmmaMatrix matrix = WmmaMatrix::a;
  Type type = Type::f16;
  Space space = Space::generic;
  bool row = true;  // in memory
  int dst = 0, address = 1, stride = -1;
  Footprint footprint() const;
};
struct WmmaStore {  // D
  int m = 16, n = 16, k = 16;
  Type type = Type::f32;
  Space space = Space::generic;
  bool row = true;
  int address = 0, src = 1, stride = -1;
  Footprint footprint() const;
};
struct Wmma {
  int m = 16, n = 16, k = 16;
  Type d = Type::f32, a = Type::f16, b = Type::f16, c = Type::f32;
  bool satfinite = false, xor_popc = false;
  MmaRounding rounding = MmaRounding::nearest;  // of f64
  int dst = 0, ra = 1, rb = 2, rc = 3;
  Footprint footprint() const;
};

// --- tensor memory and tcgen05 ------------------------------------------------------------------
// `ctas` is 1 or 2: .cta_group.
enum class TensorMemoryAction : uint8_t { alloc, dealloc, relinquish };
struct TensorMemoryAllocation {
  TensorMemoryAction action = TensorMemoryAction::alloc;
  int ctas = 1;
  int address = -1;  // alloc: where the address is stored in shared memory; dealloc: the address
  int columns = -1;
  Footprint footprint() const;
};
// How the registers of a warp lie over lanes and columns (isa/formats/tensor_memory.h).
enum class TensorShape : uint8_t { l32x32b, l16x64b, l16x128b, l16x256b, l16x32bx2 };
struct TensorMemoryLoad {
  TensorShape shape = TensorShape::l32x32b;
  int repeat = 1;     // .x1 to .x128
  bool pack = false;  // two columns of 16 bits in a register
  // tcgen05.ld.red: the minimum or maximum of each lane's values.
  bool reduces = false, maximum = false, absolute = false, nan = false;
  Type type = Type::b32;
  int dst = 0, reduced = -1, address = 1, split = -1;
  Footprint footprint() const;
};
struct TensorMemoryStore {
  TensorShape shape = TensorShape::l32x32b;
  int repeat = 1;
  bool unpack = false;
  int address = 0, src = 1, split = -1;
  Footprint footprint() const;
};
struct TensorMemoryWait {
  bool stores = false;
  Footprint footprint() const;
};
struct TensorMemoryFence {
  bool after = false;  // after_thread_sync; else before_thread_sync
  Footprint footprint() const;
};
enum class TensorCopyShape : uint8_t {
  l128x256b,
  l4x256b,
  l128x128b,
  l64x128b_02_13,
  l64x128b_01_23,
  l32x128b
};
enum class TensorUnpack : uint8_t { none, b4x16_p64, b6x16_p32 };
struct TensorMemoryCopy {  // tcgen05.cp
  TensorCopyShape shape = TensorCopyShape::l128x256b;
  TensorUnpack unpack = TensorUnpack::none;
  int ctas = 1;
  int address = 0, descriptor = 1;
  Footprint footprint() const;
};
enum class Tcgen05Kind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
struct Tcgen05Mma {
  Tcgen05Kind kind = Tcgen05Kind::f16;
  int ctas = 1;
  bool weight_stationary = false;  // .ws
  bool sparse = false;
  int scale_vectors = 0;  // of .block_scale: 1, 2 or 4 scales for the K of an instruction
  int d = 0, a_desc = -1, a_tmem = -1, b_desc = 2, metadata = -1, idesc = -1;
  int scale_a = -1, scale_b = -1;
  int disabled_lanes = -1, enable_d = -1, input_scale = -1, zero_columns = -1;
  Footprint footprint() const;
};
struct Tcgen05Commit {
  int ctas = 1;
  Space space = Space::generic;
  int mbar = 0, cta_mask = -1;
  Footprint footprint() const;
};
struct TryCancel {  // clusterlaunchcontrol.try_cancel
  Space space = Space::generic;
  bool multicast = false;
  int address = 0, mbar = 1;
  Footprint footprint() const;
};
struct QueryCancel {   // clusterlaunchcontrol.query_cancel
  int canceled = -1;   // predicate
  int ctaid = -1;      // register, or a vector of four
  int dimension = -1;  // 0 to 2; -1: all
  int response = 1;
  Footprint footprint() const;
};

// --- textures and surfaces ------------------------------------------------------------------------
enum class Geometry : uint8_t { d1, d2, d3, a1d, a2d, cube, acube };
struct TextureLoad {  // tex, tld4
  Geometry geometry = Geometry::d2;
  Type type = Type::f32;             // of each result: u32, s32 or f32
  bool integer_coordinates = false;  // texel numbers
  int component = -1;                // tld4: the one that is gathered
  int dst = 0, resident = -1, texel = -1, lod = -1, ddx = -1, ddy = -1, offset = -1;
  bool sampled = false;  // by a sampler of its own, behind the coordinates
  Footprint footprint() const;
};
enum class SurfaceAction : uint8_t { load, store, reduce };
enum class SurfaceBounds : uint8_t { trap, clamp, zero };
struct SurfaceAccess {  // suld.b, sust.b, sured
  SurfaceAction action = SurfaceAction::load;
  Geometry geometry = Geometry::d2;
  Type type = Type::b32;  // of an element in memory
  int elements = 1;
  SurfaceBounds bounds = SurfaceBounds::trap;
  AtomicOp op = AtomicOp::add;
  bool texels = false;  // sured.p: x counts texels; otherwise bytes
  int texel = 0, data = 1;
  Footprint footprint() const;
};
enum class TextureAttribute : uint8_t {
  width,
  height,
  depth,
  channel_data_type,
  channel_order,
  normalized_coords,
  array_size,
  num_mipmap_levels,
  filter_mode,
  address_mode_0,
  address_mode_1,
  address_mode_2,
  force_unnormalized_coords,
  is_texture,  // istypep
  is_sampler,
  is_surface,
};
struct TextureQuery {  // txq, suq, istypep
  TextureAttribute attribute = TextureAttribute::width;
  bool surface = false;
  int dst = 0, object = 1, lod = -1;
  Footprint footprint() const;
};

// --- the rest -----------------------------------------------------------------------------------
struct SetMaxRegisters {
  bool increase = true;
  int count = 0;
  Footprint footprint() const;
};
struct GridDependency {
  bool wait = true;
  Footprint footprint() const;
};
struct Unsupported {
  std::string_view reason;  // lives as long as the process
  Footprint footprint() const;
};  // known to the verifier, not run by the machine

using Effect =
    std::variant<Pure, Approx, Branch, BranchIndexed, Call, Return, Exit, Trap, Stack, Nanosleep, Load, Store,
                 StoreBulk, Atomic, Prefetch, Fence, ConvertAddress, IsSpace, MapShared, GetCtaRank, Shuffle,
                 Vote, Match, Redux, Elect, ActiveMask, WarpSync, LoadMatrix, StoreMatrix, MoveMatrix,
                 CtaBarrier, ClusterBarrier, Mbarrier, CpAsync, CpAsyncCommit, CpAsyncWait,
                 CpAsyncMbarrierArrive, BulkCopy, TensorCopy, BulkCommit, BulkWait, StoreAsync, ReduceAsync,
                 TensormapReplace, Wgmma, WgmmaFence, WgmmaCommit, WgmmaWait, Mma, WmmaLoad, WmmaStore, Wmma,
                 TensorMemoryAllocation, TensorMemoryLoad, TensorMemoryStore, TensorMemoryWait,
                 TensorMemoryFence, TensorMemoryCopy, Tcgen05Mma, Tcgen05Commit, TryCancel, QueryCancel,
                 TextureLoad, SurfaceAccess, TextureQuery, SetMaxRegisters, GridDependency, Unsupported>;

static_assert(std::is_trivially_copyable_v<Effect>);

}  // namespace palladion::isa
