#include "sim/check/core/merge_groups.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

namespace palladion::sim::check {
namespace {

constexpr size_t most_places = 4096, most_names = 64;  // kept of one mistake

std::string_view opcode(const Site& s) {
  std::string_view text = s.instruction;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return text.substr(0, text.find(' '));
}

std::vector<SiteKind> kinds_of_sites(const Finding& f) {
  std::vector<SiteKind> out;
  for (const Site& s : f.sites) out.emplace_back(opcode(s), s.part.does, s.part.asynchronous);
  return out;
}

bool is_one_place(const Finding& f) {
  return f.sites.size() == 2 && place_of(f.sites[0]) == place_of(f.sites[1]);
}

void add_ranges(std::vector<Range>& into, const std::vector<Range>& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::ranges::sort(into);
  size_t last = 0;
  for (size_t i = 1; i < into.size(); ++i) {
    if (into[i].from <= into[last].to)
      into[last].to = std::max(into[last].to, into[i].to);
    else
      into[++last] = into[i];
  }
  into.resize(std::min(into.size(), last + 1));
}

void add_named(std::vector<Named>& into, const Named& from) {
  const auto same = [&](const Named& n) { return n.name == from.name && n.index == from.index; };
  const auto at = std::ranges::find_if(into, same);
  if (at == into.end()) {
    if (into.size() < most_names) into.push_back(from);
  } else if (at->bytes.empty() || from.bytes.empty()) {
    at->bytes.clear();
  } else {
    add_ranges(at->bytes, from.bytes);
  }
}

void add_object(Object& into, const Object& from) {
  into.several_ctas |= from.several_ctas || into.cta != from.cta;
  if (into.kind != from.kind) return;
  for (const Named& n : from.names) add_named(into.names, n);
  if (is_memory(into.kind) || into.kind == Object::Kind::registers || into.kind == Object::Kind::mbarrier)
    add_ranges(into.ranges, from.ranges);
  into.lanes = hull(into.lanes, from.lanes);
}

void add_places(Finding& into, const SourcePlaces& places) {
  if (places == places_of(into) || into.also.size() >= most_places ||
      std::ranges::find(into.also, places) != into.also.end())
    return;
  into.also.push_back(places);
}

// `together`: lanes of one execution touch several objects; else one object is touched a round.
uint64_t add_counts(Counts& into, const Counts& from, bool together) {
  for (const auto& [lines, kinds] : from)
    for (const auto& [kind, places] : kinds)
      for (const auto& [place, count] : places) {
        uint64_t& known = into[lines][kind][place];
        known = together ? std::max(known, count) : known + count;
      }
  uint64_t sum = 0;
  for (const auto& [lines, kinds] : into) {
    uint64_t most = 0;
    for (const auto& [kind, places] : kinds) {
      uint64_t copies = 0;
      for (const uint64_t count : places | std::views::values) copies += count;
      most = std::max(most, copies);
    }
    sum += most;
  }
  return sum;
}

}  // namespace

bool is_memory(Object::Kind kind) {
  return kind == Object::Kind::shared_memory || kind == Object::Kind::global_memory ||
         kind == Object::Kind::tensor_memory;
}

bool is_barrier(Object::Kind kind) {
  return kind == Object::Kind::mbarrier || kind == Object::Kind::barrier ||
         kind == Object::Kind::cluster_barrier;
}

std::vector<std::string> names_of(const Object& object) {
  std::vector<std::string> out;
  for (const Named& n : object.names) out.push_back(n.name);
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

Kind kind_of(const Finding& f) {
  Kind out{.code = f.code,
           .severity = f.severity,
           .what = f.what.index(),
           .missing = f.missing.phrase,
           .object = f.object.kind,
           .barrier = f.object.kind == Object::Kind::barrier ? f.object.number : 0,
           .names = {},
           .sites = kinds_of_sites(f)};
  if (is_memory(f.object.kind) || f.object.kind == Object::Kind::mbarrier) out.names = names_of(f.object);
  return out;
}

bool is_conflict(const Finding& f) {
  const bool is_fault = f.fatal && std::holds_alternative<Fault>(f.what);
  return !is_fault && (f.sites.size() == 2 || f.sites.size() == 3) &&
         (is_memory(f.object.kind) || f.object.kind == Object::Kind::registers);
}

Range hull(const Range& a, const Range& b) { return {std::min(a.from, b.from), std::max(a.to, b.to)}; }

SourcePlaces places_of(const Finding& f) {
  SourcePlaces out;
  for (const Site& s : f.sites) out.push_back(place_of(s));
  return out;
}

Group group_of(Finding f, size_t index) {
  Group g{.finding = std::move(f), .parts = {index}, .spans = {}, .counts = {}};
  SourcePlaces lines;
  for (const SourcePlace& p : places_of(g.finding))
    lines.push_back({p.file, p.line, p.line == 0 ? p.ptx_line : 0});
  std::ranges::sort(lines);
  g.counts[std::move(lines)][kinds_of_sites(g.finding)][places_of(g.finding)] = g.finding.count;
  const auto span = [](uint32_t line) { return Range{line, uint64_t{line} + 1}; };
  for (size_t i = 0; i < std::min(g.spans.size(), g.finding.sites.size()); ++i) {
    g.spans[i] = span(g.finding.sites[i].ptx_line);
    for (const SourcePlaces& also : g.finding.also)
      if (i < also.size()) g.spans[i] = hull(g.spans[i], span(also[i].ptx_line));
  }
  return g;
}

bool is_lane_race(const Finding& f) { return f.code == Code::lane_race; }

bool is_at(const Finding& f, const SourcePlace& place) {
  const auto here = [&](const SourcePlace& p) {
    return place.line != 0 ? p.line == place.line && p.file == place.file : p.ptx_line == place.ptx_line;
  };
  return std::ranges::any_of(places_of(f), here) ||
         std::ranges::any_of(f.also,
                             [&](const SourcePlaces& also) { return std::ranges::any_of(also, here); });
}

bool is_missing_wait(Phrase missing) {
  switch (missing) {
    case Phrase::no_wait_for_commit:
    case Phrase::no_wait_for_mbarrier:
    case Phrase::no_wait_for_bulk_group:
    case Phrase::no_bulk_commit:
    case Phrase::no_wait_for_cp_async:
    case Phrase::no_cp_async_commit:
    case Phrase::no_wait_for_wgmma_group:
    case Phrase::no_wgmma_commit:
    case Phrase::no_wait_at_all:
    case Phrase::no_tensor_wait:
    case Phrase::no_tensor_commit:
    case Phrase::no_wait_for_tensor_commit:
    case Phrase::read_ahead_of_mbarrier:
    case Phrase::read_ahead_of_copy:
      return true;
    default:
      return false;
  }
}

void add_note(Finding& into, Statement note) {
  const auto same = [&](const Statement& s) { return s.phrase == note.phrase; };
  if (std::ranges::none_of(into.notes, same)) into.notes.push_back(std::move(note));
}

// Of a copy and a read in either order, the read behind the copy shows more.
bool is_early_form(const Finding& f, const Finding& of) {
  return f.sites.size() == 2 && of.sites.size() == 2 && f.sites[0].part.asynchronous &&
         !of.sites[0].part.asynchronous && of.sites[1].part.asynchronous;
}

// What orders two CTAs orders the threads of one, too; a barrier of a CTA does not.
bool is_of_two_ctas(const Finding& f) {
  return std::holds_alternative<Race>(f.what) && f.sites.size() == 2 && f.sites[0].cta != f.sites[1].cta;
}

void join(Group& into, Group&& from) {
  if (is_early_form(into.finding, from.finding)) std::swap(into.finding, from.finding);
  if (is_lane_race(into.finding) && !is_lane_race(from.finding)) std::swap(into.finding, from.finding);
  if (!is_lane_race(into.finding) && is_lane_race(from.finding))
    add_note(into.finding, say<Phrase::lanes_race_too>());
  if (!is_of_two_ctas(into.finding) && is_of_two_ctas(from.finding)) std::swap(into.finding, from.finding);
  // Of a barrier two places of the text show more than one place twice.
  if (is_barrier(into.finding.object.kind) && is_one_place(into.finding) && !is_one_place(from.finding))
    std::swap(into.finding, from.finding);
  into.finding.fatal |= from.finding.fatal;
  into.finding.count = add_counts(into.counts, from.counts, is_memory(into.finding.object.kind));
  add_reads(into.finding, from.finding);
  add_object(into.finding.object, from.finding.object);
  add_places(into.finding, places_of(from.finding));
  for (const SourcePlaces& places : from.finding.also) add_places(into.finding, places);
  into.parts.insert(into.parts.end(), from.parts.begin(), from.parts.end());
  for (size_t i = 0; i < into.spans.size(); ++i) into.spans[i] = hull(into.spans[i], from.spans[i]);
}

SourcePlaces lines_of(const Finding& f, const SourcePlaces& places) {
  const bool stops = std::holds_alternative<Deadlock>(f.what) || std::holds_alternative<Endless>(f.what);
  SourcePlaces out;
  for (const SourcePlace& p : places) {
    out.push_back(p.line != 0 ? SourcePlace{p.file, p.line, 0} : SourcePlace{{}, 0, p.ptx_line});
    if (stops) break;
  }
  if (!out.empty()) return out;
  return {{.ptx_line = static_cast<uint32_t>(f.message.phrase)}};
}

}  // namespace palladion::sim::check
