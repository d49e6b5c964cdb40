// Loads, stores, addresses and cache hints (PTX, "Data Movement and Conversion Instructions").
#include <algorithm>

#include "isa/ops/decode.h"
#include "isa/ops/lanes.h"

namespace palladion::isa {
// --- what they touch -----------------------------------------------------------------------------------
Footprint ConvertAddress::footprint() const { return {.values = Values::lane_wise}; }
Footprint IsSpace::footprint() const { return {.values = Values::lane_wise}; }
Footprint MapShared::footprint() const { return {.values = Values::lane_wise}; }
Footprint GetCtaRank::footprint() const { return {.values = Values::lane_wise}; }
Footprint Load::footprint() const {
  return {.values = Values::loaded,
          .memory =
              {{.space = space, .reads = true, .address = address, .bytes = decode::size_of(type, elements)}},
          .order = order,
          .scope = scope};
}

Footprint Store::footprint() const {
  return {.values = Values::stored,
          .memory = {{.space = space,
                      .writes = true,
                      .address = address,
                      .bytes = decode::size_of(type, elements)}},
          .order = order,
          .scope = scope};
}

Footprint StoreBulk::footprint() const {
  return {.memory = {{.space = space, .writes = true, .address = address, .size = size}}, .control = {size}};
}

Footprint Prefetch::footprint() const { return {.hint = true}; }

}  // namespace palladion::isa

namespace palladion::isa::ops {
namespace {

using decode::index;

// .b128 begins with PTX 8.3. A vector takes at most 128 bits, in global memory from sm_100 on 256 ($wide); a
// priority, a prefetch size or a policy needs global memory; a policy operand is present exactly when
// .L2::cache_hint is.
constexpr decode::Definition words[] = {
    {"$type",
     "<v:{.vec:v2}.type:%b|%u|%s|f32|f64;.vec:v4.type:b8|b16|b32|u8|u16|u32|s8|s16|s32|f32;.type:b128>"},
    {"$value", "type+<v:^vec;^vec;>"},
    {"$first", "<v:;;[8.3 sm_70] >"},
    {"$wide", "<v:.vec:v8.type:b32|u32|s32|f32;.vec:v4.type:b64|u64|s64|f64>"},
    {"$shared", "shared|shared::cta|shared::cluster"},
    {"$evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"$second", ".evict2:L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"$priority", "<e:.evict:$evict{$second};$second>"},
    {"$hint", "<h:;.L2::cache_hint>"},
    {"$policy", "<h:;, policy:b64>"},
    {"$ahead", "{.prefetch:L2::64B|L2::128B|L2::256B}"},
};

std::vector<std::string_view> load_forms() {
  return decode::expand(
      {"$firstld{.weak}{.space:const|global|local|param|param::entry|param::func|$shared}{.cop:ca|cg|cs|lu|"
       "cv}$type "
       "=_d:$value, a:mem",
       "[<v:7.4;7.4;8.3> sm_80] ld{.weak}{.space:global}{.cop:ca|cg|cs|lu|cv}$hint$ahead$type =_d:$value, "
       "a:mem$policy",
       "[<v:7.4;7.4;8.3> sm_80] ld{.weak}{.space:global}.evict:$evict$hint$ahead$type =_d:$value, "
       "a:mem$policy",
       "$firstld.volatile{.space:global|$shared}$type =_d:$value, a:mem",
       "[<v:7.4;7.4;8.3> sm_80] ld.volatile{.space:global}$ahead$type =_d:$value, a:mem",
       "[<v:6.0;6.0;8.3> sm_70] ld.sem:relaxed|acquire.scope:%scope{.space:global|$shared}$type =_d:$value, "
       "a:mem",
       "[<v:7.4;7.4;8.3> sm_80] "
       "ld.sem:relaxed|acquire.scope:%scope{.space:global}{.evict:$evict}$hint$ahead$type "
       "=_d:$value, a:mem$policy",
       "[8.2 sm_70] ld.mmio.sem:relaxed.scope:sys{.space:global}.type:%b|%u|%s|f32|f64 =_d:type+, a:mem",
       "[8.4 sm_70] ld.mmio.sem:relaxed.scope:sys{.space:global}.type:b128 =_d:type+, a:mem",
       // The space before the order: ptxas and much written PTX have it so.
       "$firstld.space:global|$shared.volatile$type =_d:$value, a:mem",
       "[9.1 sm_<v:50;50;70>] ld.volatile.space:local$type =_d:$value, a:mem",
       "[9.1 sm_<v:50;50;70>] ld.space:local.volatile$type =_d:$value, a:mem",
       "[<v:6.0;6.0;8.3> sm_70] ld.space:global|$shared.sem:relaxed|acquire.scope:%scope$type =_d:$value, "
       "a:mem",
       "[8.8 sm_100] ld{.weak}{.space:global}{.cop:ca|cg|cs|lu|cv}$hint$ahead$wide =_d:type+^vec, "
       "a:mem$policy",
       "[8.8 sm_100] ld{.weak}{.space:global}$priority$hint$ahead$wide =_d:type+^vec, a:mem$policy",
       "[8.8 sm_100] ld.volatile{.space:global}$ahead$wide =_d:type+^vec, a:mem",
       "[8.8 sm_100] "
       "ld.sem:relaxed|acquire.scope:%scope{.space:global}{.evict:$evict}{$second}$hint$ahead$wide "
       "=_d:type+^vec, a:mem$policy",
       "[8.8 sm_100] ld.space:global.volatile$wide =_d:type+^vec, a:mem",
       "[8.8 sm_100] ld.space:global.sem:relaxed|acquire.scope:%scope$wide =_d:type+^vec, a:mem"},
      words);
}

std::vector<std::string_view> non_coherent_forms() {
  return decode::expand(
      {"[<v:3.1;3.1;8.3> sm_<v:32;32;70>] ld.space:global{.cop:ca|cg|cs}.nc$type =_d:$value, a:mem",
       "[<v:7.4;7.4;8.3> sm_80] ld.space:global{.cop:ca|cg|cs}.nc$hint$ahead$type =_d:$value, a:mem$policy",
       "[<v:7.4;7.4;8.3> sm_80] ld.space:global.nc{.evict:$evict}$hint$ahead$type =_d:$value, a:mem$policy",
       "[8.8 sm_100] ld.space:global{.cop:ca|cg|cs}.nc$hint$ahead$wide =_d:type+^vec, a:mem$policy",
       "[8.8 sm_100] ld.space:global.nc$priority$hint$ahead$wide =_d:type+^vec, a:mem$policy"},
      words);
}

std::vector<std::string_view> store_forms() {
  return decode::expand(
      {"$firstst{.weak}{.space:global|local|param|param::func|$shared}{.cop:wb|cg|cs|wt}$type a:mem, "
       "b:$value",
       "[<v:7.4;7.4;8.3> sm_80] st{.weak}{.space:global}{.cop:wb|cg|cs|wt}$hint$type a:mem, b:$value$policy",
       "[<v:7.4;7.4;8.3> sm_80] st{.weak}{.space:global}.evict:$evict$hint$type a:mem, b:$value$policy",
       "$firstst.volatile{.space:global|$shared}$type a:mem, b:$value",
       "[<v:6.0;6.0;8.3> sm_70] st.sem:relaxed|release.scope:%scope{.space:global|$shared}$type a:mem, "
       "b:$value",
       "[<v:7.4;7.4;8.3> sm_80] st.sem:relaxed|release.scope:%scope{.space:global}{.evict:$evict}$hint$type "
       "a:mem, b:$value$policy",
       "[8.2 sm_70] st.mmio.sem:relaxed.scope:sys{.space:global}.type:%b|%u|%s|f32|f64 a:mem, b:type+",
       "[8.4 sm_70] st.mmio.sem:relaxed.scope:sys{.space:global}.type:b128 a:mem, b:type+",
       "$firstst.space:global|$shared.volatile$type a:mem, b:$value",
       "[9.1 sm_<v:50;50;70>] st.volatile.space:local$type a:mem, b:$value",
       "[9.1 sm_<v:50;50;70>] st.space:local.volatile$type a:mem, b:$value",
       "[<v:6.0;6.0;8.3> sm_70] st.space:global|$shared.sem:relaxed|release.scope:%scope$type a:mem, "
       "b:$value",
       "[8.8 sm_100] st{.weak}{.space:global}{.cop:wb|cg|cs|wt}$hint$wide a:mem, b:type+^vec$policy",
       "[8.8 sm_100] st{.weak}{.space:global}$priority$hint$wide a:mem, b:type+^vec$policy",
       "[8.8 sm_100] st.volatile{.space:global}$wide a:mem, b:type+^vec",
       "[8.8 sm_100] st.sem:relaxed|release.scope:%scope{.space:global}{.evict:$evict}{$second}$hint$wide "
       "a:mem, "
       "b:type+^vec$policy",
       "[8.8 sm_100] st.space:global.volatile$wide a:mem, b:type+^vec",
       "[8.8 sm_100] st.space:global.sem:relaxed|release.scope:%scope$wide a:mem, b:type+^vec"},
      words);
}

// --- ld, st -----------------------------------------------------------------------------------------
struct Latency {
  Space space;
  std::string_view load, store;
};
Latency latency(const Instruction& i) {
  static constexpr Latency rows[] = {{Space::shared_cta, "ld_shared", "st_shared"},
                                     {Space::shared_cluster, "ld_cluster", "st_cluster"},
                                     {Space::local, "ld_local", "st_local"},
                                     {Space::param, "ld_const", "st_param"},
                                     {Space::const_, "ld_const", ""}};
  const auto* row = std::ranges::find(rows, decode::space(i), &Latency::space);
  return row == std::end(rows) ? Latency{Space::generic, "ld_global", "st_global"} : *row;
}

Timing load_timing(const Instruction& i) { return {Unit::lsu, latency(i).load}; }
Timing store_timing(const Instruction& i) { return {Unit::lsu, latency(i).store}; }
constexpr Timing hint_timing{Unit::lsu, "prefetch"};
constexpr Timing address_timing{Unit::alu, "address"};
constexpr Timing mapa_timing{Unit::alu, "mapa"};

// Volatile accesses are relaxed ones with system scope that may not be merged or removed. LMEM is the
// thread's alone: there they are as others.
template <class Access>
void set_order(const Instruction& i, Access& access) {
  if (decode::space(i) == Space::local) return;
  if (i.has("volatile") || i.has("mmio")) {
    access.order = i.has("mmio") ? Order::mmio : Order::volatile_;
    access.scope = Scope::sys;
  } else {
    access.order = decode::order(i, Order::weak);
    access.scope = decode::scope(i, Scope::cta);
  }
}

bool too_wide(const Instruction& i, const DecodeContext& context) {
  return bits(i.type()) * decode::elements(i) > context.arch.max_access_bits;
}

Effect load(const Instruction& i, const DecodeContext& context) {
  if (too_wide(i, context)) return decode::unsupported(i, "256-bit accesses begin with sm_100");
  Load e{.space = decode::space(i), .type = i.type(), .elements = decode::elements(i)};
  set_order(i, e);
  e.non_coherent = i.has("nc");
  e.dst = index(i, "d");
  e.address = index(i, "a");
  return e;
}

Effect ldu(const Instruction& i, const DecodeContext&) {
  return Load{.space = decode::space(i),
              .type = i.type(),
              .elements = decode::elements(i),
              .non_coherent = true,
              .dst = index(i, "d"),
              .address = index(i, "a")};
}

Effect store(const Instruction& i, const DecodeContext& context) {
  if (too_wide(i, context)) return decode::unsupported(i, "256-bit accesses begin with sm_100");
  Store e{.space = decode::space(i), .type = i.type(), .elements = decode::elements(i)};
  set_order(i, e);
  e.address = index(i, "a");
  e.src = index(i, "b");
  return e;
}

Effect store_bulk(const Instruction& i, const DecodeContext&) {
  return StoreBulk{.space = decode::space(i), .address = index(i, "a"), .size = index(i, "size")};
}

// --- hints --------------------------------------------------------------------------------------------
Effect hint(const Instruction& i, const DecodeContext&) { return Prefetch{.address = index(i, "a")}; }

// A policy is opaque to a program and a mere hint to the caches. The words are those that CUTLASS
// writes for whole fractions; `unchanged` follows their pattern.
void copy_policy(const LaneArgs& a) {
  uint64_t t[lanes::warp_size];
  std::memcpy(t, a.s[0], sizeof t);
  lanes::commit(a.d[0], t, a.mask);
}

Effect createpolicy(const Instruction& i, const DecodeContext&) {
  if (i.has("cvt")) return Pure{copy_policy};
  if (i.has("range")) return decode::unsupported(i, "policies of address ranges are not modelled");
  return Pure{
      .fn = copy_policy,
      .constant = decode::word_of<uint64_t>(i.mod("primary"), {{"L2::evict_first", 0x12F0000000000000},
                                                               {"L2::evict_last", 0x14F0000000000000},
                                                               {"L2::evict_unchanged", 0x16F0000000000000},
                                                               {"L2::evict_normal", 0x1000000000000000}})};
}

// --- addresses ----------------------------------------------------------------------------------------
Effect cvta(const Instruction& i, const DecodeContext&) {
  return ConvertAddress{.space = decode::space(i),
                        .to_generic = !i.has("to"),
                        .dst = index(i, "d"),
                        .src = index(i, "a"),
                        .type = i.type()};
}

Effect isspacep(const Instruction& i, const DecodeContext&) {
  return IsSpace{.space = decode::space(i), .dst = index(i, "p"), .address = index(i, "a")};
}

Effect mapa(const Instruction& i, const DecodeContext&) {
  return MapShared{.generic = !i.has("space"),
                   .type = i.type(),
                   .dst = index(i, "d"),
                   .address = index(i, "a"),
                   .rank = index(i, "rank")};
}

Effect getctarank(const Instruction& i, const DecodeContext&) {
  return GetCtaRank{
      .generic = !i.has("space"), .type = i.type(), .dst = index(i, "d"), .address = index(i, "a")};
}

std::vector<OpDef> accesses() {
  return {
      OpDef{"ld",
            "Loads a scalar or a vector from memory; without a space the address is generic. Weak unless an "
            "order is "
            "named. Data Movement and Conversion Instructions: ld.",
            load_forms(), load_timing, load},
      OpDef{"ld",
            "Loads from global memory that no thread writes while the kernel runs, through the non-coherent "
            "cache. "
            "Data Movement and Conversion Instructions: ld.global.nc.",
            non_coherent_forms(), load_timing, load},
      OpDef{
          "ldu",
          "Loads read-only data from an address that is the same in all threads of a warp. Data Movement and "
          "Conversion Instructions: ldu.",
          decode::expand({"$firstldu{.space:global}$type =_d:$value, a:mem"}, words),
          Timing{Unit::lsu, "ld_global"}, ldu},
      OpDef{"st",
            "Stores a scalar or a vector to memory; without a space the address is generic. Weak unless an "
            "order is "
            "named. Data Movement and Conversion Instructions: st.",
            store_forms(), store_timing, store},
      OpDef{"st",
            "Zeroes a range of shared memory. Data Movement and Conversion Instructions: st.bulk.",
            {"[8.6 sm_100] st.bulk{.weak}{.space:shared::cta} a:mem, size:b64, "
             "initval:imm[0: zero is the only value]"},
            store_timing,
            store_bulk},
  };
}

std::vector<OpDef> hints() {
  constexpr decode::Definition priorities[] = {
      {"$priorities",
       ".primary:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
       "{.secondary:L2::evict_first|L2::evict_unchanged}"}};
  return {
      OpDef{"prefetch",
            "Brings the line of an address, or a tensor map, into a cache. Data Movement and Conversion "
            "Instructions: "
            "prefetch, prefetchu.",
            {"prefetch{.space:global|local}.level:L1|L2 a:mem",
             "[7.4 sm_80] prefetch{.space:global}.evict:L2::evict_last|L2::evict_normal a:mem",
             "[8.0 sm_90] prefetch{.space:const|param}.tensormap a:mem"},
            hint_timing,
            hint},
      OpDef{"prefetchu",
            "Brings the line of a generic address into the uniform cache. Data Movement and Conversion "
            "Instructions: "
            "prefetch, prefetchu.",
            {"prefetchu.level:L1 a:mem"},
            hint_timing,
            hint},
      OpDef{"applypriority",
            "Changes the eviction priority of a cached range. Data Movement and Conversion Instructions: "
            "applypriority.",
            {"[7.4 sm_80] applypriority{.space:global}.evict:L2::evict_normal a:mem, size:imm[128]"},
            hint_timing,
            hint},
      OpDef{"discard",
            "Drops a cached range without writing it back: its contents become undefined. Data Movement and "
            "Conversion Instructions: discard.",
            {"[7.4 sm_80] discard{.space:global}.level:L2 a:mem, size:imm[128]"},
            hint_timing,
            hint},
      OpDef{
          "createpolicy",
          "Makes a cache policy for the operand of `.L2::cache_hint`. Data Movement and Conversion "
          "Instructions: "
          "createpolicy.",
          decode::expand({"[7.4 sm_80] createpolicy.fractional$priorities.b64 =policy:b64, fraction?:f32",
                          "[7.4 sm_80] createpolicy.range{.space:global}$priorities.b64 =policy:b64, a:mem, "
                          "primary_size:u32, total_size:u32",
                          "[7.4 sm_80] createpolicy.cvt.L2.b64 =policy:b64, property:b64"},
                         priorities),
          Timing{Unit::alu, "createpolicy"}, createpolicy},
  };
}

std::vector<OpDef> addresses() {
  constexpr decode::Definition spaces[] = {
      {"$space", ".space:const|global|local|shared|shared::cta|shared::cluster|param|param::entry"}};
  return {
      OpDef{
          "cvta",
          "Converts an address of a space to a generic one, or back with `.to`. Data Movement and Conversion "
          "Instructions: cvta.",
          decode::expand({"[2.0 sm_20] cvta$space.type:u32|u64 =d:type, a:type",
                          "[2.0 sm_20] cvta.to$space.type:u32|u64 =d:type, a:type"},
                         spaces),
          address_timing, cvta, Operation::convert_address},
      OpDef{"isspacep",
            "Whether a generic address lies in the window of a space. Data Movement and Conversion "
            "Instructions: "
            "isspacep.",
            decode::expand({"[2.0 sm_20] isspacep$space =p:pred, a:any"}, spaces), address_timing, isspacep},
      OpDef{"mapa",
            "The address of the same shared variable in another CTA of the cluster. Data Movement and "
            "Conversion "
            "Instructions: mapa.",
            {"[7.8 sm_90] mapa{.space:shared::cluster}.type:u32|u64 =d:type, a:type, rank:u32"},
            mapa_timing,
            mapa,
            Operation::map_address},
      OpDef{"getctarank",
            "The rank in the cluster of the CTA whose shared memory holds an address. Data Movement and "
            "Conversion "
            "Instructions: getctarank.",
            {"[7.8 sm_90] getctarank{.space:shared::cluster}.type:u32|u64 =d:b32, a:type"},
            mapa_timing,
            getctarank},
  };
}

}  // namespace

std::vector<OpDef> memory() { return joined({accesses(), hints(), addresses()}); }

}  // namespace palladion::isa::ops
