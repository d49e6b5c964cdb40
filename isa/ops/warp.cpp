// What the threads of a warp do together (PTX, "Parallel Synchronization and Communication
// Instructions", "Data Movement and Conversion Instructions", "Warp-level Matrix Instructions").
#include "isa/ops/decode.h"

namespace palladion::isa {
namespace {
// Eight lanes give the rows of a matrix.
uint32_t row_lanes(int matrices) { return matrices >= 4 ? ~0U : (1U << 8 * matrices) - 1; }

Participants with_members(int members) { return members >= 0 ? Participants::warp : Participants::lanes; }

Footprint exchange(int members) {
  return {.values = Values::combined,
          .control = {members},
          .members = members,
          .participants = with_members(members)};
}
}  // namespace

// --- what they touch -----------------------------------------------------------------------------------
Footprint Shuffle::footprint() const { return exchange(members); }
Footprint Vote::footprint() const { return exchange(members); }
Footprint Match::footprint() const { return exchange(members); }
Footprint Redux::footprint() const { return exchange(members); }
Footprint Elect::footprint() const {
  return {.control = {members}, .members = members, .participants = with_members(members)};
}

Footprint ActiveMask::footprint() const { return {}; }
Footprint WarpSync::footprint() const {
  return {.control = {members},
          .members = members,
          .participants = Participants::warp,
          .sync = {.object = Sync::Object::warp, .arrives = true, .waits = true}};
}

Footprint LoadMatrix::footprint() const {
  return {
      .values = Values::tensor,
      .memory = {{.space = space, .reads = true, .address = address, .bytes = 16, .lanes = row_lanes(count)}},
      .participants = Participants::warp};
}

Footprint StoreMatrix::footprint() const {
  return {.values = Values::tensor,
          .memory =
              {{.space = space, .writes = true, .address = address, .bytes = 16, .lanes = row_lanes(count)}},
          .participants = Participants::warp};
}

Footprint MoveMatrix::footprint() const {
  return {.values = Values::combined, .participants = Participants::warp};
}

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

Timing shfl_timing(const Instruction& i) {
  return {Unit::lsu, i.operand("b")->is(Operand::Kind::reg) ? "shfl_register" : "shfl"};
}
constexpr Timing vote_timing{Unit::alu, "vote"};

constexpr std::string_view removed =
    "the form without .sync ended with PTX 6.4 on sm_70; use .sync with a member mask";

ShuffleMode shuffle_mode(std::string_view word) {
  return word == "up"     ? ShuffleMode::up
         : word == "down" ? ShuffleMode::down
         : word == "bfly" ? ShuffleMode::bfly
                          : ShuffleMode::idx;
}

Effect shfl(const Instruction& i, const DecodeContext&) {
  if (!i.has("sync")) return decode::unsupported(i, removed);
  return Shuffle{.mode = shuffle_mode(i.mod("mode")),
                 .dst = index(i, "d"),
                 .in_range = index(i, "p"),
                 .value = index(i, "a"),
                 .lane = index(i, "b"),
                 .clamp = index(i, "c"),
                 .members = index(i, "members")};
}

Effect vote(const Instruction& i, const DecodeContext&) {
  if (!i.has("sync")) return decode::unsupported(i, removed);
  const std::string_view mode = i.mod("mode");
  return Vote{.mode = mode == "all"   ? VoteMode::all
                      : mode == "any" ? VoteMode::any
                      : mode == "uni" ? VoteMode::uni
                                      : VoteMode::ballot,
              .dst = index(i, "d"),
              .pred = index(i, "a"),
              .members = index(i, "members")};
}

Effect match(const Instruction& i, const DecodeContext&) {
  return Match{.all = i.has("all"),
               .type = i.type(),
               .dst = index(i, "d"),
               .pred = index(i, "p"),
               .value = index(i, "a"),
               .members = index(i, "members")};
}

ReduxOp redux_op(std::string_view word) {
  if (word == "min") return ReduxOp::min;
  if (word == "max") return ReduxOp::max;
  if (word == "and") return ReduxOp::and_;
  if (word == "or") return ReduxOp::or_;
  return word == "xor" ? ReduxOp::xor_ : ReduxOp::add;
}

Effect redux(const Instruction& i, const DecodeContext&) {
  return Redux{.op = redux_op(i.mod("op")),
               .type = i.type(),
               .dst = index(i, "d"),
               .value = index(i, "a"),
               .members = index(i, "members"),
               .abs = i.has("abs"),
               .nan = i.has("NaN")};
}

Effect elect(const Instruction& i, const DecodeContext&) {
  return Elect{.dst = decode::written(i, "d"), .pred = index(i, "p"), .members = index(i, "members")};
}

Effect activemask(const Instruction& i, const DecodeContext&) { return ActiveMask{.dst = index(i, "d")}; }

Effect warp_sync(const Instruction& i, const DecodeContext&) {
  return WarpSync{.members = index(i, "members")};
}

// --- matrices of 8 x 8 ------------------------------------------------------------------------------
int matrices(const Instruction& i) { return i.mod("num")[1] - '0'; }

// Empty when it is modelled.
std::string_view refusal(const Instruction& i) {
  if (i.mod("shape") != "m8n8")
    return "matrices of 8-bit elements, which begin with sm_100f, are not modelled";
  const bool fits = i.operand("r")->elements.size() == static_cast<size_t>(matrices(i));
  return fits ? "" : "the number of registers is not that of the matrices";
}

Effect ldmatrix(const Instruction& i, const DecodeContext&) {
  if (const auto why = refusal(i); !why.empty()) return decode::unsupported(i, why);
  return LoadMatrix{.count = matrices(i),
                    .transposed = i.has("trans"),
                    .type = i.type(),
                    .space = decode::space(i),
                    .dst = index(i, "r"),
                    .address = index(i, "a")};
}

Effect stmatrix(const Instruction& i, const DecodeContext&) {
  if (const auto why = refusal(i); !why.empty()) return decode::unsupported(i, why);
  return StoreMatrix{.count = matrices(i),
                     .transposed = i.has("trans"),
                     .type = i.type(),
                     .space = decode::space(i),
                     .address = index(i, "a"),
                     .src = index(i, "r")};
}

Effect movmatrix(const Instruction& i, const DecodeContext&) {
  return MoveMatrix{.dst = index(i, "d"), .src = index(i, "a")};
}

// Registers in a vector, `count` of them.
constexpr decode::Definition words[] = {
    {"$num", "<n:.num:x1;.num:x2;.num:x4>"},
    {"$registers", "r:b32<n:^*;^2;^4>"},
    {"$space", "{.space:shared|shared::cta}"},
    {"$families", "[8.6 sm_100f|sm_110f|sm_120f]"},
};

std::vector<OpDef> votes() {
  return {
      OpDef{
          "shfl",
          "Each thread reads a of another thread: lane a-b (up), a+b (down), a^b (bfly) or b (idx), within "
          "the "
          "segment of c; p says whether that lane was in range. Data Movement and Conversion Instructions: "
          "shfl.sync.",
          {"[6.0 sm_30] shfl.sync.mode:up|down|bfly|idx.b32 =d:b32, a:b32, b:u32, c:u32, members:u32",
           "[6.0 sm_30] shfl.sync.mode:up|down|bfly|idx.b32 =d:b32|=p:pred, a:b32, b:u32, c:u32, members:u32",
           "[3.0..6.3 sm_30: write `.sync` and the mask of the lanes] shfl.mode:up|down|bfly|idx.b32 =d:b32, "
           "a:b32, b:u32, c:u32",
           "[3.0..6.3 sm_30: write `.sync` and the mask of the lanes] shfl.mode:up|down|bfly|idx.b32 "
           "=d:b32|=p:pred, a:b32, b:u32, c:u32"},
          shfl_timing,
          shfl},
      OpDef{"vote",
            "Whether a predicate holds in all, any, or uniformly in the member threads; ballot gives a bit "
            "for each. "
            "Parallel Synchronization and Communication Instructions: vote.sync.",
            {"[6.0 sm_30] vote.sync.mode:all|any|uni.pred =d:pred, a:pred, members:u32",
             "[6.0 sm_30] vote.sync.mode:ballot.b32 =d:b32, a:pred, members:u32",
             "[1.2..6.3 sm_12: write `.sync` and the mask of the lanes] vote.mode:all|any|uni.pred =d:pred, "
             "a:pred",
             "[1.2..6.3 sm_12: write `.sync` and the mask of the lanes] vote.mode:ballot.b32 =d:b32, a:pred"},
            vote_timing,
            vote},
      OpDef{"match",
            "The mask of member threads with the same value (any), or the whole mask when all agree (all). "
            "Parallel "
            "Synchronization and Communication Instructions: match.sync.",
            {"[6.0 sm_70] match.any.sync.type:b32|b64 =d:b32, a:type, members:u32",
             "[6.0 sm_70] match.all.sync.type:b32|b64 =d:b32, a:type, members:u32",
             "[6.0 sm_70] match.all.sync.type:b32|b64 =d:b32|=p:pred, a:type, members:u32"},
            Timing{Unit::alu, "match"},
            match},
      OpDef{
          "redux",
          "Reduces a value over the member threads. Parallel Synchronization and Communication Instructions: "
          "redux.sync.",
          {"[7.0 sm_80] redux.sync.op:add|min|max.type:u32|s32 =d:type, a:type, members:u32",
           "[7.0 sm_80] redux.sync.op:and|or|xor.type:b32 =d:type, a:type, members:u32",
           "[8.6 sm_100f] redux.sync.op:min|max{.abs}{.NaN}.type:f32 =d:type, a:type, members:u32"},
          Timing{Unit::sfu, "redux"},
          redux},
      OpDef{
          "elect",
          "Elects one of the member threads: p is true in it, d holds its lane in all; `_` drops d. Parallel "
          "Synchronization and Communication Instructions: elect.sync.",
          {"[8.0 sm_90] elect.sync =d:b32|=p:pred, members:u32"},
          Timing{Unit::alu, "elect"},
          elect},
      OpDef{"activemask",
            "The mask of threads that execute together now. Parallel Synchronization and Communication "
            "Instructions: "
            "activemask.",
            {"[6.2 sm_30] activemask.b32 =d:b32"},
            vote_timing,
            activemask},
      OpDef{
          "bar",
          "Waits until all member threads of the warp have come, and orders their memory accesses. Parallel "
          "Synchronization and Communication Instructions: bar.warp.sync.",
          {"[6.0 sm_30] bar.warp.sync members:u32"},
          Timing{Unit::sync, "warp_sync"},
          warp_sync},
  };
}

std::vector<OpDef> matrix_moves() {
  return {
      OpDef{"ldmatrix",
            "Loads one, two or four 8 x 8 matrices from shared memory, lane i naming row i, into the "
            "fragment layout "
            "of mma. Warp-level Matrix Instructions: ldmatrix.",
            decode::expand(
                {"[6.5 sm_75] ldmatrix.sync.aligned.shape:m8n8$num{.trans}$space.type:b16 =$registers, a:mem",
                 // The words in CUTLASS's order.
                 "[6.5 sm_75] ldmatrix.sync.aligned$num{.trans}.shape:m8n8$space.type:b16 =$registers, a:mem",
                 "$families ldmatrix.sync.aligned.shape:m16n16<d:.num:x1;.num:x2>.trans$space.type:b8 "
                 "=r:b32^<d:2;4>, a:mem",
                 "$families ldmatrix.sync.aligned.shape:m16n16<d:.num:x1;.num:x2>.trans$space.dst:b8x16"
                 ".src:b6x16_p32|b4x16_p64 =r:b32^<d:2;4>, a:mem",
                 "$families ldmatrix.sync.aligned.shape:m8n16$num$space.dst:b8x16.src:b6x16_p32|b4x16_p64 "
                 "=$registers, a:mem"},
                words),
            Timing{Unit::lsu, "ldmatrix"}, ldmatrix},
      OpDef{"stmatrix",
            "Stores one, two or four 8 x 8 matrices from the fragment layout of mma to shared memory, lane i "
            "naming "
            "row i. Warp-level Matrix Instructions: stmatrix.",
            decode::expand(
                {"[7.8 sm_90] stmatrix.sync.aligned.shape:m8n8$num{.trans}$space.type:b16 a:mem, $registers",
                 "[7.8 sm_90] stmatrix.sync.aligned$num{.trans}.shape:m8n8$space.type:b16 a:mem, $registers",
                 "$families stmatrix.sync.aligned.shape:m16n8$num.trans$space.type:b8 a:mem, $registers"},
                words),
            Timing{Unit::lsu, "stmatrix"}, stmatrix},
      OpDef{"movmatrix",
            "Transposes an 8 x 8 matrix held in the registers of a warp. Warp-level Matrix Instructions: "
            "movmatrix.",
            {"[7.8 sm_75] movmatrix.sync.aligned.shape:m8n8.trans.type:b16 =d:b32, a:b32"},
            Timing{Unit::lsu, "movmatrix"},
            movmatrix},
  };
}

}  // namespace

std::vector<OpDef> warp() { return joined({votes(), matrix_moves()}); }

}  // namespace palladion::isa::ops
