// Steps in which lanes or warps meet: shuffles, votes, shared memory, matrix loads, atomics.
#include "tests/property/random/random_writer.h"

namespace palladion::random_program {
namespace {

std::string integer_source(Writer& w, char pool) { return w.source(pool, Flavor::integer).name(); }
std::string integer_target(Writer& w, char pool) { return w.target(pool, Flavor::integer).name(); }

void shuffle(Writer& w) {
  static const std::vector<std::string> modes{"up", "down", "bfly", "idx"};
  static const std::vector<uint32_t> clamps{0x1f, 0, 0x181f, 0x1c1f, 0x101f, 0x1e1f, 0x0f, 0x1800};
  const std::string value = integer_source(w, 'r'),
                    lane = w.rng().one_in(2) ? integer_source(w, 'r') : fmt::format("{}", w.rng().below(34));
  std::string to = integer_target(w, 'r');
  if (w.rng().one_in(2)) to += "|" + integer_target(w, 'p');
  const std::string clamp =
      w.rng().one_in(4) ? integer_source(w, 'r') : fmt::format("{}", w.rng().pick(clamps));
  w.line("  shfl.sync.{}.b32 {}, {}, {}, {}, 0xffffffff;", w.rng().pick(modes), to, value, lane, clamp);
}

void vote(Writer& w) {
  const uint32_t mode = w.rng().below(4);
  const std::string p = (w.rng().one_in(2) ? "!" : "") + integer_source(w, 'p');
  if (mode == 3) return w.line("  vote.sync.ballot.b32 {}, {}, 0xffffffff;", integer_target(w, 'r'), p);
  constexpr const char* words[] = {"all", "any", "uni"};
  w.line("  vote.sync.{}.pred {}, {}, 0xffffffff;", words[mode], integer_target(w, 'p'), p);
}

// Few different values, so that some match.
void match(Writer& w) {
  const int bits = w.rng().one_in(2) ? 32 : 64;
  const std::string value = integer_source(w, bits == 32 ? 'r' : 'd'), temp = bits == 32 ? "%t0" : "%u1";
  const bool all = w.rng().one_in(2);
  w.line("  and.b{} {}, {}, {};", bits, temp, value, all && w.rng().one_in(2) ? 0 : 6);
  std::string to = integer_target(w, 'r');
  if (all && w.rng().one_in(2)) to += "|" + integer_target(w, 'p');
  w.line("  match.{}.sync.b{} {}, {}, 0xffffffff;", all ? "all" : "any", bits, to, temp);
}

void reduce(Writer& w) {
  static const std::vector<std::string> words{"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                              "max.s32", "and.b32", "or.b32",  "xor.b32"};
  const std::string value = integer_source(w, 'r');
  w.line("  redux.sync.{} {}, {}, 0xffffffff;", w.rng().pick(words), integer_target(w, 'r'), value);
}

// Sixteen bytes of this thread at %row.
void fill_row(Writer& w, const char* address) {
  const std::string a = integer_source(w, 'r'), b = integer_source(w, 'r'), c = integer_source(w, 'r'),
                    d = integer_source(w, 'r');
  w.line("  st.{}.v4.b32 [{}], {{{}, {}, {}, {}}};", address[1] == 'r' ? "shared" : "global", address, a, b,
         c, d);
}

void load_row(Writer& w, const std::string& space, const std::string& address) {
  const std::string a = integer_target(w, 'r'), b = integer_target(w, 'r'), c = integer_target(w, 'r'),
                    d = integer_target(w, 'r');
  w.line("  ld.{}.v4.b32 {{{}, {}, {}, {}}}, [{}];", space, a, b, c, d, address);
}

struct Access {
  const char* words;
  int bytes;  // of one element
  int elements;
  const char* pools;  // of registers that may hold an element
};
constexpr Access stores[] = {{"b8", 1, 1, "hr"},    {"b16", 2, 1, "h"},    {"u16", 2, 1, "hr"},
                             {"b32", 4, 1, "r"},    {"b64", 8, 1, "d"},    {"f64", 8, 1, "f"},
                             {"v2.b16", 2, 2, "h"}, {"v4.b16", 2, 4, "h"}, {"v2.b32", 4, 2, "r"},
                             {"v2.b64", 8, 2, "d"}, {"v4.u8", 1, 4, "h"},  {"v4.b32", 4, 4, "r"}};
constexpr Access loads[] = {{"u8", 1, 1, "hrd"},   {"s8", 1, 1, "hrd"},   {"b8", 1, 1, "hr"},
                            {"u16", 2, 1, "hrd"},  {"s16", 2, 1, "hrd"},  {"b16", 2, 1, "h"},
                            {"u32", 4, 1, "rd"},   {"s32", 4, 1, "rd"},   {"b64", 8, 1, "d"},
                            {"v2.b16", 2, 2, "h"}, {"v4.b16", 2, 4, "h"}, {"v2.s8", 1, 2, "hr"},
                            {"v4.b32", 4, 4, "r"}, {"v2.b64", 8, 2, "d"}};

template <class F>
std::string list_of(Writer& w, const Access& a, F reg) {
  const std::string_view pools_of = a.pools;
  const char p = pools_of[w.rng().below(static_cast<uint32_t>(pools_of.size()))];
  if (a.elements == 1) return reg(p);
  std::string s;
  for (int i = 0; i < a.elements; ++i) s += (i == 0 ? "{" : ", ") + reg(p);
  return s + "}";
}

uint32_t place_in_row(Writer& w, const Access& a) {
  const auto size = static_cast<uint32_t>(a.bytes * a.elements);
  return w.rng().below(16 / size) * size;
}

// An address of another thread's row in %t0.
void other_row(Writer& w) {
  w.line(
      "  mad.lo.u32 %t0, %me, {}, {};\n  and.b32 %t0, %t0, 127;\n  shl.b32 %t0, %t0, 4;\n  add.u32 %t0, %t0, "
      "%tile;",
      2 * w.rng().below(64) + 1, w.rng().below(128));
}

struct AtomicWords {
  const char* words;  // after the space
  char pool;
  int operands;
  bool everywhere;  // else global only
};
constexpr AtomicWords own_atomics[] = {{"add.u32", 'r', 1, true},
                                       {"add.s32", 'r', 1, true},
                                       {"add.u64", 'd', 1, true},
                                       {"add.f32", 'r', 1, true},
                                       {"add.f64", 'f', 1, true},
                                       {"and.b32", 'r', 1, true},
                                       {"or.b32", 'r', 1, true},
                                       {"xor.b32", 'r', 1, true},
                                       {"exch.b32", 'r', 1, true},
                                       {"and.b64", 'd', 1, true},
                                       {"or.b64", 'd', 1, true},
                                       {"xor.b64", 'd', 1, true},
                                       {"exch.b64", 'd', 1, true},
                                       {"inc.u32", 'r', 1, true},
                                       {"dec.u32", 'r', 1, true},
                                       {"min.u32", 'r', 1, true},
                                       {"min.s32", 'r', 1, true},
                                       {"min.u64", 'd', 1, true},
                                       {"min.s64", 'd', 1, true},
                                       {"max.u32", 'r', 1, true},
                                       {"max.s32", 'r', 1, true},
                                       {"max.u64", 'd', 1, true},
                                       {"max.s64", 'd', 1, true},
                                       {"cas.b16", 'h', 2, true},
                                       {"cas.b32", 'r', 2, true},
                                       {"cas.b64", 'd', 2, true},
                                       {"add.noftz.f16", 'h', 1, true},
                                       {"add.noftz.f16x2", 'r', 1, true},
                                       {"add.noftz.bf16", 'h', 1, true},
                                       {"add.noftz.bf16x2", 'r', 1, true},
                                       {"add.v2.f32", 'r', -2, false},
                                       {"add.v4.f32", 'r', -4, false},
                                       {"add.noftz.v2.f16x2", 'r', -2, false},
                                       {"max.noftz.v4.bf16x2", 'r', -4, false}};

Flavor flavor_of_atomic(std::string_view words) {
  if (words.find(".bf16") != std::string_view::npos) return Flavor::bf16;
  if (words.find(".f16") != std::string_view::npos) return Flavor::f16;
  if (words.find(".f32") != std::string_view::npos) return Flavor::f32;
  return words.find(".f64") != std::string_view::npos ? Flavor::f64 : Flavor::integer;
}

template <class F>
std::string registers(int operands, F reg) {
  if (operands > 0) return reg();
  std::string s;
  for (int i = 0; i < -operands; ++i) s += (i == 0 ? "{" : ", ") + reg();
  return s + "}";
}

}  // namespace

void warp_step(Writer& w) {
  w.begin(Reach::warp);
  switch (w.rng().below(5)) {
    case 0:
      shuffle(w);
      break;
    case 1:
      vote(w);
      break;
    case 2:
      match(w);
      break;
    case 3:
      reduce(w);
      break;
    default: {
      const std::string a = w.source('r', Flavor::f16).name();
      w.line("  movmatrix.sync.aligned.m8n8.trans.b16 {}, {};", w.target('r', Flavor::f16).name(), a);
    }
  }
  w.end();
}

// A row of 16 bytes each, a part of it overwritten, another thread's read.
void shared_step(Writer& w) {
  w.begin(Reach::cta);
  fill_row(w, "%row");
  const Access& st = stores[w.rng().below(std::size(stores))];
  const std::string from =
      list_of(w, st, [&](char p) { return w.source(p, p == 'f' ? Flavor::f64 : Flavor::integer).name(); });
  w.line("  st.shared.{} [%row+{}], {};", st.words, place_in_row(w, st), from);
  other_row(w);
  const Access& ld = loads[w.rng().below(std::size(loads))];
  const std::string to = list_of(w, ld, [&](char p) { return integer_target(w, p); });
  w.line("  bar.sync 0;\n  ld.shared.{} {}, [%t0+{}];\n  bar.sync 0;", ld.words, to, place_in_row(w, ld));
  w.reload_results();  // ptxas 13.0 converts a sign-extended byte as signed where cvt says .u32
  w.end();
}

void matrix_memory_step(Writer& w) {
  w.begin(Reach::cta);
  const int count = 1 << w.rng().below(3);
  const std::string words =
      fmt::format("sync.aligned.m8n8.x{}{}.shared.b16", count, w.rng().one_in(2) ? ".trans" : "");
  fill_row(w, "%row");
  if (w.rng().one_in(2)) {
    other_row(w);
    const std::string to =
        registers(count == 1 ? -1 : -count, [&] { return w.target('r', Flavor::f16).name(); });
    w.line("  bar.sync 0;\n  ldmatrix.{} {}, [%t0];\n  bar.sync 0;", words, to);
  } else {  // into the warp's own rows, in another order
    w.line(
        "  mad.lo.u32 %t0, %lane, {}, {};\n  and.b32 %t0, %t0, 31;\n  shl.b32 %t0, %t0, 4;\n  shl.b32 %t1, "
        "%warp, 9;",
        2 * w.rng().below(16) + 1, w.rng().below(32));
    w.line("  add.u32 %t0, %t0, %t1;\n  add.u32 %t0, %t0, %tile;");
    const std::string from =
        registers(count == 1 ? -1 : -count, [&] { return w.source('r', Flavor::f16).name(); });
    w.line("  bar.warp.sync 0xffffffff;\n  stmatrix.{} [%t0], {};\n  bar.warp.sync 0xffffffff;", words, from);
    load_row(w, "shared", "%row");
    w.line("  bar.sync 0;");
  }
  w.end();
}

// A cell that no other thread touches: every operation, every result.
void own_atomic_step(Writer& w) {
  w.begin(Reach::lane);
  const AtomicWords& a = own_atomics[w.rng().below(std::size(own_atomics))];
  const bool shared = a.everywhere && w.rng().one_in(2);
  const Flavor flavor = flavor_of_atomic(a.words);
  const char* space = shared ? "shared" : "global";
  const std::string cell = shared ? "%row" : fmt::format("%out16+{}", w.reserve(16, 16));
  const std::string type = a.pool == 'h' ? "b16" : a.pool == 'r' ? "b32" : a.pool == 'f' ? "f64" : "b64";
  const auto source = [&] { return w.source(a.pool, flavor).name(); };
  if (a.operands < 0) {
    const auto list = registers(-4, source);
    w.line("  st.global.v4.b32 [{}], {};", cell, list);
  } else {
    const std::string zero = shared ? "  st.shared.v2.b64 [%row], {0, 0};\n" : "";
    w.line("{}  st.{}.{} [{}], {};", zero, space, type, cell, source());
  }
  std::string values = registers(a.operands, source);
  if (a.operands == 2) values += ", " + source();
  const bool returns =
      w.rng().below(4) != 0 || a.operands == 2 || std::string_view(a.words).find("exch") == 0;
  const std::string to =
      returns ? registers(a.operands, [&] { return w.target(a.pool, flavor).name(); }) + ", " : "";
  w.line("  {}.{}.{} {}[{}], {};", returns ? "atom" : "red", space, a.words, to, cell, values);
  if (a.operands < 0) {
    load_row(w, space, cell);
    return w.end();
  }
  // f64: what is in memory may be any NaN, so it goes to a register of bits.
  w.line("  ld.{}.{} {}, [{}];", space, a.pool == 'f' ? "b64" : type,
         w.target(a.pool == 'f' ? 'd' : a.pool, flavor).name(), cell);
  w.end();
}

// Eight cells for all threads of the CTA; the operations commute, what they return is not looked at.
void common_atomic_step(Writer& w) {
  w.begin(Reach::cta);
  static const std::vector<std::string> words{
      "add.u32", "add.u64", "min.u32", "min.s32", "max.u32", "max.s32", "min.u64", "min.s64",
      "max.u64", "max.s64", "and.b32", "or.b32",  "xor.b32", "and.b64", "or.b64",  "xor.b64"};
  const std::string& op = w.rng().pick(words);
  const bool wide = op.ends_with("64"), shared = w.rng().one_in(2);
  const char pool = wide ? 'd' : 'r';
  const std::string index = integer_source(w, 'r'), value = integer_source(w, pool);
  const char* space = shared ? "shared" : "global";
  w.line("  setp.lt.u32 %q0, %me, 8;\n  and.b32 %t0, {}, 7;\n  and.b32 %t1, %me, 7;", index);
  const uint64_t first = random_value(w.rng(), Flavor::integer);
  std::string cell, read;
  if (shared) {
    w.line(
        "  shl.b32 %t0, %t0, 3;\n  add.u32 %t0, %t0, %tile;\n  shl.b32 %t1, %t1, 3;\n  add.u32 %t1, %t1, "
        "%tile;");
    cell = "%t0", read = "%t1";
  } else {  // 64 bytes a CTA of 128 threads
    const size_t at = w.reserve(1, 64);
    w.line("  mad.wide.u32 %u1, %t0, 8, %cta_cells;\n  mad.wide.u32 %u2, %t1, 8, %cta_cells;");
    cell = fmt::format("%u1+{}", at), read = fmt::format("%u2+{}", at);
  }
  // A comparison's result guards the first store, but no lane keeps an old register.
  w.line("  @%q0 st.{}.b64 [{}], 0x{:016x};\n  bar.sync 0;", space, read, first);
  w.line("  red.{}.{} [{}], {};\n  bar.sync 0;", space, op, cell, value);
  w.line("  ld.{}.b{} {}, [{}];\n  bar.sync 0;", space, wide ? 64 : 32, integer_target(w, pool), read);
  w.end();
}

}  // namespace palladion::random_program
