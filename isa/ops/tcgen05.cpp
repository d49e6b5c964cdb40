// Tensor memory and the matrix products that run on it: sm_100 (PTX, "TensorCore 5th Generation Family
// Instructions").
#include <charconv>

#include "isa/ops/decode.h"

namespace palladion::isa {
namespace {

MemoryUse tensor_memory(int address, bool reads, bool writes) {
  return {
      .space = Space::tensor, .proxy = Proxy::async, .reads = reads, .writes = writes, .address = address};
}
MemoryUse matrix(int descriptor) {
  return {.space = Space::shared_cta, .proxy = Proxy::async, .reads = true, .address = descriptor};
}
constexpr Async issues{.role = Async::Role::issues, .family = AsyncFamily::tcgen05};

}  // namespace

// --- what they touch -----------------------------------------------------------------------------------
Footprint TensorMemoryAllocation::footprint() const {
  Footprint f{.control = {address, columns},
              .participants = Participants::warp,
              .sync = {.object = Sync::Object::tensor_memory,
                       .arrives = action != TensorMemoryAction::alloc,
                       .waits = action == TensorMemoryAction::alloc}};
  if (action == TensorMemoryAction::alloc)
    f.memory = {{.space = Space::shared_cta, .writes = true, .address = address, .bytes = 4}};
  return f;
}

Footprint TensorMemoryLoad::footprint() const {
  return {.values = Values::tensor,
          .memory = {tensor_memory(address, true, false)},
          .control = {address, split},
          .participants = Participants::warp};
}

Footprint TensorMemoryStore::footprint() const {
  return {.values = Values::tensor,
          .memory = {tensor_memory(address, false, true)},
          .control = {address, split},
          .participants = Participants::warp};
}

Footprint TensorMemoryWait::footprint() const {
  return {.participants = Participants::warp, .sync = {.object = Sync::Object::fence}};
}

Footprint TensorMemoryFence::footprint() const { return {.sync = {.object = Sync::Object::fence}}; }

Footprint TensorMemoryCopy::footprint() const {
  return {.values = Values::tensor,
          .memory = {matrix(descriptor), tensor_memory(address, false, true)},
          .control = {address, descriptor},
          .async = issues};
}

Footprint Tcgen05Mma::footprint() const {
  const MemoryUse a = a_desc >= 0 ? matrix(a_desc) : tensor_memory(a_tmem, true, false);
  Footprint f{
      .values = Values::tensor,
      .memory = {a, matrix(b_desc), tensor_memory(d, true, true)},
      .control = {d, a_desc, a_tmem, b_desc, metadata, idesc, scale_a, scale_b, enable_d, zero_columns},
      .async = issues};
  if (scale_a >= 0)
    f.memory = {a, matrix(b_desc), tensor_memory(d, true, true), tensor_memory(scale_a, true, false),
                tensor_memory(scale_b, true, false)};
  return f;
}

Footprint Tcgen05Commit::footprint() const {
  return {.control = {mbar, cta_mask},
          .async = {.role = Async::Role::issues, .family = AsyncFamily::tcgen05_commit, .mbarrier = mbar}};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

int ctas(const Instruction& i) { return i.mod("cta_group") == "cta_group::2" ? 2 : 1; }

Effect allocation(const Instruction& i, const DecodeContext&) {
  using enum TensorMemoryAction;
  const TensorMemoryAction action = i.has("alloc") ? alloc : i.has("dealloc") ? dealloc : relinquish;
  return TensorMemoryAllocation{
      .action = action, .ctas = ctas(i), .address = index(i, "a"), .columns = index(i, "columns")};
}

TensorShape shape_of(const Instruction& i) {
  using enum TensorShape;
  constexpr std::pair<std::string_view, TensorShape> table[] = {{"32x32b", l32x32b},
                                                                {"16x64b", l16x64b},
                                                                {"16x128b", l16x128b},
                                                                {"16x256b", l16x256b},
                                                                {"16x32bx2", l16x32bx2}};
  return decode::word_of(i.mod("shape"), table);
}

// "x16"
int repeat_of(const Instruction& i) {
  const std::string_view word = i.mod("num");
  int n = 0;
  std::from_chars(word.data() + 1, word.data() + word.size(), n);
  return n;
}

// Registers of a lane for one repetition.
int registers(TensorShape shape) {
  return shape == TensorShape::l16x256b ? 4 : shape == TensorShape::l16x128b ? 2 : 1;
}

bool has_registers(const Instruction& i, int operand, int count) {
  return i.operands[static_cast<size_t>(operand)].elements.size() == static_cast<size_t>(count);
}

Effect wrong_count(const Instruction& i, TensorShape shape, int repeat) {
  return decode::unsupported(i,
                             "the vector has another number of registers than shape and repetition need: " +
                                 std::to_string(registers(shape) * repeat));
}

Effect load(const Instruction& i, const DecodeContext&) {
  TensorMemoryLoad e{.shape = shape_of(i), .repeat = repeat_of(i)};
  e.pack = i.has("pack::16b");
  e.reduces = i.has("red");
  e.maximum = i.mod("op") == "max";
  e.absolute = i.has("abs");
  e.nan = i.has("NaN");
  e.type = i.type("type");
  e.dst = index(i, "r");
  e.reduced = index(i, "reduced");
  e.address = index(i, "a");
  e.split = index(i, "split");
  if (!has_registers(i, e.dst, registers(e.shape) * e.repeat)) return wrong_count(i, e.shape, e.repeat);
  return e;
}

Effect store(const Instruction& i, const DecodeContext&) {
  TensorMemoryStore e{.shape = shape_of(i), .repeat = repeat_of(i)};
  e.unpack = i.has("unpack::16b");
  e.address = index(i, "a");
  e.src = index(i, "r");
  e.split = index(i, "split");
  if (!has_registers(i, e.src, registers(e.shape) * e.repeat)) return wrong_count(i, e.shape, e.repeat);
  return e;
}

Effect order(const Instruction& i, const DecodeContext&) {
  if (i.has("wait::ld")) return TensorMemoryWait{.stores = false};
  if (i.has("wait::st")) return TensorMemoryWait{.stores = true};
  return TensorMemoryFence{.after = i.has("fence::after_thread_sync")};
}

Effect copy(const Instruction& i, const DecodeContext&) {
  using enum TensorCopyShape;
  constexpr std::pair<std::string_view, TensorCopyShape> table[] = {{"128x256b", l128x256b},
                                                                    {"4x256b", l4x256b},
                                                                    {"128x128b", l128x128b},
                                                                    {"64x128b", l64x128b_02_13},
                                                                    {"32x128b", l32x128b}};
  TensorMemoryCopy e{.shape = decode::word_of(i.mod("shape"), table), .ctas = ctas(i)};
  if (i.mod("multicast") == "warpx2::01_23") e.shape = l64x128b_01_23;
  e.unpack = i.has("b4x16_p64")   ? TensorUnpack::b4x16_p64
             : i.has("b6x16_p32") ? TensorUnpack::b6x16_p32
                                  : TensorUnpack::none;
  e.address = index(i, "a");
  e.descriptor = index(i, "desc");
  return e;
}

constexpr std::string_view no_shift =
    "the manual does not say whether rows move to the next lane or to the one before";

Effect shift(const Instruction& i, const DecodeContext&) { return decode::unsupported(i, no_shift); }

Effect commit(const Instruction& i, const DecodeContext&) {
  return Tcgen05Commit{
      .ctas = ctas(i), .space = decode::space(i), .mbar = index(i, "a"), .cta_mask = index(i, "ctas")};
}

Tcgen05Kind kind_of(const Instruction& i) {
  using enum Tcgen05Kind;
  constexpr std::pair<std::string_view, Tcgen05Kind> table[] = {
      {"kind::f16", f16},           {"kind::tf32", tf32}, {"kind::f8f6f4", f8f6f4},    {"kind::i8", i8},
      {"kind::mxf8f6f4", mxf8f6f4}, {"kind::mxf4", mxf4}, {"kind::mxf4nvf4", mxf4nvf4}};
  return decode::word_of(i.mod("kind"), table);
}

// Scales for the K of one instruction; the word may be left out where a kind has one choice.
int scale_vectors(const Instruction& i, Tcgen05Kind kind) {
  const std::string_view word = i.mod("vector");
  if (word == "scale_vec::4X" || word == "block16") return 4;
  return kind == Tcgen05Kind::mxf8f6f4 ? 1 : 2;
}

Effect mma(const Instruction& i, const DecodeContext&) {
  if (i.has("ashift")) return decode::unsupported(i, no_shift);
  Tcgen05Mma e{.kind = kind_of(i), .ctas = ctas(i)};
  e.weight_stationary = i.has("ws");
  e.sparse = i.has("sp");
  if (i.has("block_scale")) e.scale_vectors = scale_vectors(i, e.kind);
  e.d = index(i, "d");
  e.a_desc = index(i, "a");
  e.a_tmem = index(i, "ta");
  e.b_desc = index(i, "b");
  e.metadata = index(i, "metadata");
  e.idesc = index(i, "idesc");
  e.scale_a = index(i, "scale_a");
  e.scale_b = index(i, "scale_b");
  e.disabled_lanes = index(i, "lanes");
  e.enable_d = index(i, "enable");
  e.input_scale = index(i, "input_scale");
  e.zero_columns = index(i, "zero_columns");
  return e;
}

constexpr decode::Definition words[] = {
    {"$family", "[8.6 sm_100f]"},
    {"$chips", "[8.6 sm_100a|sm_103a]"},
    {"$group", ".cta_group:cta_group::1|cta_group::2"},
    {"$shapes",
     "<s:.shape:16x64b|32x32b.num:x1|x2|x4|x8|x16|x32|x64|x128;.shape:16x128b.num:x1|x2|x4|x8|x16|x32|x64;"
     ".shape:16x256b.num:x1|x2|x4|x8|x16|x32>"},
    {"$halves", ".shape:16x32bx2.num:x1|x2|x4|x8|x16|x32|x64|x128"},
    {"$reducing", ".num:x2|x4|x8|x16|x32|x64|x128"},
    {"$formats", "<f:;.to:b8x16.b4x16_p64;.to:b8x16.b6x16_p32>"},
    {"$a", "<a:a:b64;ta:tmem>"},
    {"$floats", ".kind:kind::f16|kind::tf32|kind::f8f6f4"},
    {"$scaled", "<k:.kind:kind::f16|kind::tf32;.kind:kind::f16|kind::tf32;$floats;$floats>"},
    {"$keep",
     "{.collector:collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard}"},
    {"$keep_shifted", "{.collector:collector::a::lastuse|collector::a::discard}"},
    {"$keep_b",
     "{.collector:collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|"
     "collector::b1::fill|collector::b1::use|collector::b1::lastuse|collector::b1::discard|"
     "collector::b2::fill|collector::b2::use|collector::b2::lastuse|collector::b2::discard|"
     "collector::b3::fill|collector::b3::use|collector::b3::lastuse|collector::b3::discard}"},
    {"$lanes", "<l:;lanes:b32^*, >"},
    {"$blocks",
     "<v:.kind:kind::mxf8f6f4.block_scale{.vector:scale_vec::1X|block32};"
     ".kind:kind::mxf4.block_scale{.vector:scale_vec::2X|block32};"
     ".kind:kind::mxf4nvf4.block_scale.vector:scale_vec::2X|scale_vec::4X|block32|block16>"},
};

std::vector<OpDef> memory_defs() {
  return {
      OpDef{
          "tcgen05",
          "Allocates columns of tensor memory, waiting for them, and stores their address to shared memory; "
          "frees them; or gives up the right to allocate. TensorCore 5th Generation Family Instructions: "
          "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit.",
          decode::expand(
              {"$family tcgen05.alloc$group.sync.aligned{.space:shared::cta}.b32 a:mem, columns:b32",
               "$family tcgen05.dealloc$group.sync.aligned.b32 a:b32, columns:b32",
               "$family tcgen05.relinquish_alloc_permit$group.sync.aligned"},
              words),
          Timing{Unit::sync, "tcgen05_alloc"}, allocation},
      OpDef{"tcgen05",
            "Loads lanes and columns of tensor memory into the registers of a warp; with .red also the "
            "smallest "
            "or largest value of each lane. TensorCore 5th Generation Family Instructions: tcgen05.ld.",
            decode::expand(
                {"$family tcgen05.ld.sync.aligned$shapes{.pack::16b}.b32 =r:b32^*, a:tmem",
                 "$family tcgen05.ld.sync.aligned$halves{.pack::16b}.b32 =r:b32^*, a:tmem, split:imm",
                 "[8.6 sm_103a] tcgen05.ld.red.sync.aligned.shape:32x32b$reducing.op:min|max<t:{.abs}{.NaN}"
                 ".type:f32;.type:u32|s32> <t:=r:f32^*, =reduced:f32;=r:b32^*, =reduced:b32>, a:tmem",
                 "[8.6 sm_103a] tcgen05.ld.red.sync.aligned.shape:16x32bx2$reducing.op:min|max<t:{.abs}{.NaN}"
                 ".type:f32;.type:u32|s32> <t:=r:f32^*, =reduced:f32;=r:b32^*, =reduced:b32>, a:tmem, "
                 "split:imm"},
                words),
            Timing{Unit::lsu, "tcgen05_ld"}, load},
      OpDef{"tcgen05",
            "Stores the registers of a warp to lanes and columns of tensor memory. TensorCore 5th Generation "
            "Family Instructions: tcgen05.st.",
            decode::expand(
                {"$family tcgen05.st.sync.aligned$shapes{.unpack::16b}.b32 a:tmem, r:b32^*",
                 "$family tcgen05.st.sync.aligned$halves{.unpack::16b}.b32 a:tmem, split:imm, r:b32^*"},
                words),
            Timing{Unit::lsu, "tcgen05_st"}, store},
      OpDef{"tcgen05",
            "Waits for the thread's loads or stores of tensor memory, or orders its tcgen05 operations with "
            "those "
            "of threads that it synchronises with. TensorCore 5th Generation Family Instructions: "
            "tcgen05.wait, "
            "tcgen05.fence.",
            decode::expand(
                {"$family tcgen05.wait::ld.sync.aligned", "$family tcgen05.wait::st.sync.aligned",
                 "$family tcgen05.fence::before_thread_sync", "$family tcgen05.fence::after_thread_sync"},
                words),
            Timing{Unit::sync, "tcgen05_wait"}, order},
  };
}

std::vector<OpDef> async_defs() {
  return {
      OpDef{
          "tcgen05",
          "Copies rows of shared memory to tensor memory, asynchronously. TensorCore 5th Generation Family "
          "Instructions: tcgen05.cp.",
          decode::expand(
              {"$family tcgen05.cp$group.shape:128x256b|4x256b|128x128b$formats a:tmem, desc:b64",
               "$family tcgen05.cp$group.shape:64x128b.multicast:warpx2::02_13|warpx2::01_23$formats a:tmem, "
               "desc:b64",
               "$family tcgen05.cp$group.shape:32x128b.multicast:warpx4$formats a:tmem, desc:b64"},
              words),
          Timing{Unit::tensor, "tcgen05_cp"}, copy},
      OpDef{"tcgen05",
            "Moves the rows of 32 lanes of tensor memory down by one, asynchronously. TensorCore 5th "
            "Generation "
            "Family Instructions: tcgen05.shift.",
            decode::expand({"$chips tcgen05.shift$group.down a:tmem"}, words),
            Timing{Unit::tensor, "tcgen05_shift"}, shift},
      OpDef{"tcgen05",
            "Arrives at mbarriers when the thread's tcgen05 operations so far have completed. TensorCore 5th "
            "Generation Family Instructions: tcgen05.commit.",
            decode::expand({"$family tcgen05.commit$group.mbarrier::arrive::one{.space:shared::cluster}"
                            "<m:;.multicast::cluster>.b64 a:mem<m:;, ctas:b16>"},
                           words),
            Timing{Unit::sync, "tcgen05_commit"}, commit},
  };
}

std::vector<std::string_view> mma_forms() {
  return decode::expand(
      {"$family tcgen05.mma$group$floats$keep d:tmem, $a, b:b64, idesc:b32, $lanesenable:pred",
       "$family tcgen05.mma$group.kind:kind::f16|kind::tf32$keep d:tmem, $a, b:b64, idesc:b32, $lanes"
       "enable:pred, input_scale:imm[0..15]",
       "$family tcgen05.mma$group$floats.ashift$keep_shifted d:tmem, ta:tmem, b:b64, idesc:b32, $lanes"
       "enable:pred",
       "$family tcgen05.mma$group.kind:kind::f16|kind::tf32.ashift$keep_shifted d:tmem, ta:tmem, b:b64, "
       "idesc:b32, "
       "$lanesenable:pred, input_scale:imm[0..15]",
       "[8.6 sm_100a] tcgen05.mma$group.kind:kind::i8$keep d:tmem, $a, b:b64, idesc:b32, $lanesenable:pred",
       "[8.6 sm_100a] tcgen05.mma$group.kind:kind::i8.ashift$keep_shifted d:tmem, ta:tmem, b:b64, idesc:b32, "
       "$lanes"
       "enable:pred",
       "$chips tcgen05.mma$group$blocks$keep d:tmem, $a, b:b64, idesc:b32, scale_a:tmem, scale_b:tmem, "
       "enable:pred",
       "$family tcgen05.mma.sp$group$floats$keep d:tmem, $a, b:b64, metadata:tmem, idesc:b32, "
       "$lanesenable:pred",
       "$family tcgen05.mma.sp$group.kind:kind::f16|kind::tf32$keep d:tmem, $a, b:b64, metadata:tmem, "
       "idesc:b32, "
       "$lanesenable:pred, input_scale:imm[0..15]",
       "[8.6 sm_100a] tcgen05.mma.sp$group.kind:kind::i8$keep d:tmem, $a, b:b64, metadata:tmem, idesc:b32, "
       "$lanes"
       "enable:pred",
       "$chips tcgen05.mma.sp$group$blocks$keep d:tmem, $a, b:b64, metadata:tmem, idesc:b32, scale_a:tmem, "
       "scale_b:tmem, enable:pred"},
      words);
}

std::vector<std::string_view> weight_stationary_forms() {
  return decode::expand(
      {"$family tcgen05.mma.ws.cta_group:cta_group::1$floats$keep_b d:tmem, $a, b:b64, idesc:b32, enable:pred"
       "<z:;, zero_columns:b64>",
       "[8.6 sm_100a] tcgen05.mma.ws.cta_group:cta_group::1.kind:kind::i8$keep_b d:tmem, $a, b:b64, "
       "idesc:b32, "
       "enable:pred<z:;, zero_columns:b64>",
       "$family tcgen05.mma.ws.sp.cta_group:cta_group::1$floats$keep_b d:tmem, $a, b:b64, metadata:tmem, "
       "idesc:b32, "
       "enable:pred<z:;, zero_columns:b64>",
       "[8.6 sm_100a] tcgen05.mma.ws.sp.cta_group:cta_group::1.kind:kind::i8$keep_b d:tmem, $a, b:b64, "
       "metadata:tmem, "
       "idesc:b32, enable:pred<z:;, zero_columns:b64>"},
      words);
}

std::vector<OpDef> mma_defs() {
  return {
      OpDef{"tcgen05",
            "D = A B + D in tensor memory, by one CTA or the two of a pair: B, and A unless it is in tensor "
            "memory, "
            "come from shared memory through descriptors; asynchronous. TensorCore 5th Generation Family "
            "Instructions: tcgen05.mma, tcgen05.mma.sp.",
            mma_forms(), Timing{Unit::tensor, "tcgen05_mma"}, mma},
      OpDef{"tcgen05",
            "The same with B kept in the tensor core. TensorCore 5th Generation Family Instructions: "
            "tcgen05.mma.ws, tcgen05.mma.ws.sp.",
            weight_stationary_forms(), Timing{Unit::tensor, "tcgen05_mma"}, mma},
  };
}

}  // namespace

std::vector<OpDef> tcgen05() { return joined({memory_defs(), async_defs(), mma_defs(), launch_control()}); }

}  // namespace palladion::isa::ops
