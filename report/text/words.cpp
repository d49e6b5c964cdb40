#include "report/text/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <vector>

#include "isa/core/symbol_name.h"
#include "isa/formats/matrix_descriptor.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::report {
namespace {

using sim::Named;
using sim::Object;
using sim::Range;

constexpr size_t shown = 8;  // of names, ranges and lines

std::string cta_text(const isa::Dim3& id) { return fmt::format("CTA ({},{},{})", id.x, id.y, id.z); }

// "a, b, c and 4 more"
std::string list(const std::vector<std::string>& texts) {
  const size_t n = std::min(texts.size(), shown);
  std::string out =
      fmt::format("{}", fmt::join(texts.begin(), texts.begin() + static_cast<ptrdiff_t>(n), ", "));
  return texts.size() > n ? fmt::format("{} and {} more", out, texts.size() - n) : out;
}

std::string ranges_text(const std::vector<Range>& ranges, bool hex) {
  std::vector<std::string> out;
  for (const Range& r : ranges)
    out.push_back(hex ? fmt::format("[0x{:x}, 0x{:x})", r.from, r.to)
                      : fmt::format("[{}, {})", r.from, r.to));
  return list(out);
}

std::string named_text(const Named& n) {
  std::string out = fmt::format("`{}`", isa::readable_name(n.name));
  if (n.index) out += fmt::format("[{}]", *n.index);
  return n.bytes.empty() ? out : fmt::format("{} bytes {}", out, ranges_text(n.bytes, false));
}

std::string names_text(const Object& object) {
  std::vector<std::string> out;
  for (const Named& n : object.names) out.push_back(named_text(n));
  return list(out) + (object.past_end ? ", past its end" : "");
}

std::string mbarrier_text(const Object& object) {
  const bool several = object.names.size() + object.ranges.size() > 1;
  if (!object.names.empty()) return (several ? "mbarriers " : "mbarrier ") + names_text(object);
  std::vector<std::string> out;
  for (const Range& r : object.ranges) out.push_back(fmt::format("0x{:x}", r.from));
  return fmt::format("mbarrier{} at shared address{} {}", several ? "s" : "", several ? "es" : "", list(out));
}

std::string tensor_text(const Object& object) {
  std::string out = "tensor memory";
  if (object.lanes.to != 0) out += fmt::format(" lanes [{}, {})", object.lanes.from, object.lanes.to);
  if (!object.ranges.empty()) out += " columns " + ranges_text(object.ranges, false);
  return out;
}

// "register 3 of 64, `%f4`", of several "registers 3 to 5, 8 of 64"
std::string registers_text(const Object& object) {
  if (object.names.empty()) return "all accumulator and A registers";
  const bool several = object.names.size() > 1;
  if (object.ranges.empty()) return (several ? "registers " : "register ") + names_text(object);
  std::vector<std::string> places;
  for (const Range& r : object.ranges)
    places.push_back(r.to - r.from == 1 ? fmt::format("{}", r.from)
                                        : fmt::format("{} to {}", r.from, r.to - 1));
  const std::string of = fmt::format("{} of {}", list(places), object.number);
  return several ? "registers " + of : fmt::format("register {}, {}", of, names_text(object));
}

std::string descriptor_text(const Object& object) {
  const isa::MatrixDescriptor d = isa::decode_matrix_descriptor(object.number);
  const int span = static_cast<int>(isa::span_bytes(d.swizzle));
  const std::string swizzle = span >= 32 ? fmt::format("{}-byte swizzle", span) : "no swizzle";
  return fmt::format("descriptor of {} 0x{:016x} (start 0x{:x}, LBO {}, SBO {}, base offset {}, {})",
                     object.names.empty() ? "" : object.names.front().name, object.number, d.start, d.leading,
                     d.stride, d.base_offset, swizzle);
}

std::string bare_text(const Object& object) {
  switch (object.kind) {
    case Object::Kind::none:
      return "memory";
    case Object::Kind::shared_memory:
      return object.names.empty() ? "shared memory " + ranges_text(object.ranges, true) : names_text(object);
    case Object::Kind::global_memory:
      return object.names.empty() ? "global memory " + ranges_text(object.ranges, true) : names_text(object);
    case Object::Kind::tensor_memory:
      return tensor_text(object);
    case Object::Kind::mbarrier:
      return mbarrier_text(object);
    case Object::Kind::barrier:
      return fmt::format("barrier {}", object.number);
    case Object::Kind::cluster_barrier:
      return "the cluster barrier";
    case Object::Kind::registers:
      return registers_text(object);
    case Object::Kind::accumulators:
      return fmt::format("element ({}, {}) of the warpgroup's 64 x {} accumulators", object.ranges[0].from,
                         object.ranges[1].from, object.number);
    case Object::Kind::descriptor:
      return descriptor_text(object);
    case Object::Kind::lanes:
      return fmt::format("lanes 0x{:08x} of its warp", object.number);
    case Object::Kind::warpgroup:
      return fmt::format("warpgroup {}", object.number);
    case Object::Kind::kernel:
      return "kernel " + names_text(object);
    case Object::Kind::register_pool:
      return "the CTA's registers";
    case Object::Kind::wgmma_groups:
      return "its wgmma groups";
    case Object::Kind::bulk_groups:
      return "its bulk async-groups";
    case Object::Kind::cp_async_groups:
      return "its cp.async groups";
  }
  return {};
}

// --- sites ----------------------------------------------------------------------------------------
std::string times(uint64_t n, std::string_view verb) {
  return n == 1 ? std::string(verb) : fmt::format("{} {} times", verb, n);
}

std::string signal_text(const sim::Part& part) {
  std::vector<std::string> out;
  if (part.arrivals != 0) out.push_back(times(part.arrivals, "arrives"));
  if (part.expected != 0) out.push_back(fmt::format("expects {} bytes", part.expected));
  if (part.delivered != 0) out.push_back(fmt::format("delivers {} bytes", part.delivered));
  return out.empty() ? "signals" : fmt::format("{}", fmt::join(out, ", "));
}

std::string loop_text(const sim::Part& part, bool has_source) {
  const uint64_t from = part.lines.from, last = part.lines.to - 1;
  const std::string where =
      from == last ? fmt::format("line {}", from) : fmt::format("lines {} to {}", from, last);
  return fmt::format("is in a loop in {}{}, with {}", has_source ? "" : "PTX ", where,
                     plural(part.number, "warp"));
}

std::string does_text(const sim::Part& part, bool has_source) {
  constexpr std::string_view words[] = {
      "",
#define PLD_DOES(name, text) text,
#include "sim/launch/does.inc"
#undef PLD_DOES
  };
  const std::string_view does = words[static_cast<size_t>(part.does)];
  switch (part.does) {
    case sim::Does::signals:
      return signal_text(part);
    case sim::Does::loops:
      return loop_text(part, has_source);
    case sim::Does::initialises:
      return part.number == 0 ? std::string(does) : fmt::format("{} with count {}", does, part.number);
    case sim::Does::describes:
      return fmt::format("{} 0x{:016x}", does, part.number);
    case sim::Does::has_cta_group:
      return fmt::format("{}::{}", does, part.number);
    case sim::Does::waits:
      return part.phase ? fmt::format("{} for phase {}", does, *part.phase) : std::string(does);
    default:
      return std::string(does);
  }
}

sim::WarpLanes actor_of(const sim::Site& site, const std::optional<isa::Dim3>& home) {
  sim::WarpLanes out{.cta = {}, .warp = site.warp, .lanes = site.lanes};
  if (home && *home != site.cta) out.cta = site.cta;
  return out;
}

// "warp 0 arrives 32 times at gemm.cu:31, its 2nd execution"; of a site that only names an instruction that.
std::string sentence(const sim::Site& site, const std::optional<isa::Dim3>& home) {
  const std::string place = place_text(site);
  if (site.part.does == sim::Does::nothing) {
    const std::string text = site.instruction.empty() ? "an instruction" : site.instruction;
    return place.empty() ? text : fmt::format("{} ({})", text, place);
  }
  sim::WarpLanes actor = actor_of(site, home);
  actor.lanes = 0;
  if (site.part.does == sim::Does::passes) return fmt::format("{} passes {}", text_of(actor), place);
  if (site.part.does == sim::Does::lands)
    return fmt::format("the operation that {} issued at {} lands", text_of(actor), place);
  std::string out = fmt::format("{} {}", text_of(actor), text_of(site.part, site.source.known()));
  if (!place.empty()) out += " at " + place;
  return site.occurrence == 0 ? out : fmt::format("{}, execution {}", out, site.occurrence);
}

// --- sentences ------------------------------------------------------------------------------------
struct ValueText {
  std::string_view place;  // in the template: "{x8}"
  const std::optional<isa::Dim3>& home;
  std::string operator()(int64_t n) const {
    const auto bits = static_cast<uint64_t>(n);
    if (place == "{x8}") return fmt::format("0x{:08x}", bits);
    if (place == "{x16}") return fmt::format("0x{:016x}", bits);
    if (place == "{x}") return fmt::format("0x{:x}", bits);
    return place == "{u}" ? fmt::format("{}", bits) : fmt::format("{}", n);
  }
  std::string operator()(double x) const { return fmt::format("{:g}", x); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Object& object) const { return text_of(object); }
  std::string operator()(const sim::WarpLanes& actor) const { return text_of(actor); }
  std::string operator()(const sim::Site& site) const { return sentence(site, home); }
  std::string operator()(const sim::CycleStep& step) const {
    return fmt::format("{} waits for {}", text_of(step.actor), text_of(step.object));
  }
  std::string operator()(const sim::Statement& part) const { return text_of(part, home); }
};

bool is_one(const sim::PhraseValue& value) {
  const auto* const number = std::get_if<int64_t>(&value);
  return number != nullptr && *number == 1;
}

}  // namespace

std::string_view word(sim::FindingSeverity severity) {
  constexpr std::string_view words[] = {"error", "strict", "unknown", "unsupported"};
  return words[static_cast<size_t>(severity)];
}

std::string_view name_of(sim::Does does) {
  constexpr std::string_view names[] = {
      "",
#define PLD_DOES(name, text) #name,
#include "sim/launch/does.inc"
#undef PLD_DOES
  };
  return names[static_cast<size_t>(does)];
}

std::string_view name_of(Object::Kind kind) {
  constexpr std::string_view names[] = {"",
                                        "shared_memory",
                                        "global_memory",
                                        "tensor_memory",
                                        "mbarrier",
                                        "barrier",
                                        "cluster_barrier",
                                        "registers",
                                        "accumulators",
                                        "descriptor",
                                        "lanes",
                                        "warpgroup",
                                        "kernel",
                                        "register_pool",
                                        "wgmma_groups",
                                        "bulk_groups",
                                        "cp_async_groups"};
  return names[static_cast<size_t>(kind)];
}

std::string_view name_of(sim::BlockedWait::Kind kind) {
  constexpr std::string_view names[] = {"memory",          "convergence",  "mbarrier",       "cta_barrier",
                                        "cluster_barrier", "bulk_group",   "cp_async_group", "wgmma_group",
                                        "registers",       "tensor_memory"};
  return names[static_cast<size_t>(kind)];
}

std::string_view name_of(sim::Phrase phrase) {
  constexpr std::string_view names[] = {
      "",
#define PLD_PHRASE(name, text) #name,
#include "sim/launch/phrases/phrases.inc"
#undef PLD_PHRASE
  };
  return names[static_cast<size_t>(phrase)];
}

std::string lanes_text(uint32_t lanes) {
  if (lanes == 0 || lanes == ~0U) return {};
  const int low = std::countr_zero(lanes), high = 31 - std::countl_zero(lanes);
  if (low == high) return fmt::format(" lane {}", low);
  const bool dense = std::popcount(lanes) == high - low + 1;
  return dense ? fmt::format(" lanes {}-{}", low, high) : fmt::format(" lanes 0x{:08x}", lanes);
}

std::string place_text(const sim::Site& site, std::string_view ptx_name) {
  if (site.source.known()) return fmt::format("{}:{}", site.source.file, site.source.line);
  if (site.ptx_line == 0) return {};
  return ptx_name.empty() ? fmt::format("PTX line {}", site.ptx_line)
                          : fmt::format("{}:{}", ptx_name, site.ptx_line);
}

std::string text_of(const Object& object) {
  std::string out = bare_text(object);
  if (object.warp) out += fmt::format(" of warp {}", *object.warp);
  if (object.cta) out += " of " + cta_text(*object.cta);
  return object.several_ctas ? out + " and others" : out;
}

std::string text_of(const sim::WarpLanes& actor) {
  const std::string out = fmt::format("warp {}{}", actor.warp, lanes_text(actor.lanes));
  return actor.cta ? fmt::format("{} of {}", out, cta_text(*actor.cta)) : out;
}

std::string text_of(const sim::Role& role) {
  constexpr std::pair<sim::Role::Issues, std::string_view> issues[] = {
      {sim::Role::bulk_loads, "bulk loads"},
      {sim::Role::cp_async, "cp.async"},
      {sim::Role::wgmma, "wgmma"},
      {sim::Role::tcgen05, "tcgen05.mma"},
      {sim::Role::bulk_stores, "bulk stores"}};
  std::vector<std::string> out;
  if (role.warpgroup) out.push_back(fmt::format("warpgroup {}", *role.warpgroup));
  for (const auto& [bit, text] : issues)
    if ((role.issues & bit) != 0) out.push_back(fmt::format("issues {}", text));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string text_of(const sim::Part& part, bool has_source) {
  std::string out = does_text(part, has_source);
  if (part.phase && part.does != sim::Does::waits) out += fmt::format(" in phase {}", *part.phase);
  if (part.asynchronous) out += ", asynchronously";
  if (part.as_other_ctas) out += ", as other CTAs do";
  return part.earlier ? out + " (earlier)" : out;
}

std::string text_of(const sim::Statement& statement, const std::optional<isa::Dim3>& home) {
  std::string out;
  size_t next = 0;
  std::string_view text = sim::template_of(statement.phrase);
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::string_view place = text.substr(0, text.find('}') + 1);
    text.remove_prefix(place.size());
    if (place == "{s}") {
      out += next != 0 && is_one(statement.values[next - 1]) ? "" : "s";
    } else if (place == "{*}") {
      std::vector<std::string> all;
      for (; next < statement.values.size(); ++next)
        all.push_back(std::visit(ValueText{place, home}, statement.values[next]));
      out += all.empty() ? "none" : fmt::format("{}", fmt::join(all, "; "));
    } else if (next < statement.values.size()) {
      out += std::visit(ValueText{place, home}, statement.values[next++]);
    }
  }
  return out;
}

}  // namespace palladion::report
