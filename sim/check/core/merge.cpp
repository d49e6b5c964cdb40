#include "sim/check/core/merge.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/check/catalogue/code.h"
#include "sim/check/core/consequences.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

constexpr size_t most_places = 4096, most_names = 64;  // kept of one mistake

// --- what is compared -----------------------------------------------------------------------------
std::string_view opcode(const Site& s) {
  std::string_view text = s.instruction;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return text.substr(0, text.find(' '));
}

// How a site takes part: what its instruction is and does.
using SiteKind = std::tuple<std::string, Does, bool>;

// What findings of one mistake have in common, wherever they are.
struct Kind {
  isa::CodeNumber code;
  FindingSeverity severity;
  size_t what;
  Phrase missing;
  Object::Kind object;
  uint64_t barrier;
  std::vector<std::string> names;  // of arrays and mbarriers
  std::vector<SiteKind> sites;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

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
           .sites = {}};
  if (is_memory(f.object.kind) || f.object.kind == Object::Kind::mbarrier) out.names = names_of(f.object);
  for (const Site& s : f.sites) out.sites.emplace_back(opcode(s), s.part.does, s.part.asynchronous);
  return out;
}

// Two sites of the text, or three with the wait that did not order them, in memory or registers.
bool is_conflict(const Finding& f) {
  return !f.fatal && (f.sites.size() == 2 || f.sites.size() == 3) &&
         (is_memory(f.object.kind) || f.object.kind == Object::Kind::registers);
}

// A finding, and those that are the same mistake of other instructions.
struct Group {
  Finding finding;
  std::vector<size_t> parts;
  std::array<Range, 2> spans;  // PTX lines of the first two sites
};

Range hull(const Range& a, const Range& b) { return {std::min(a.from, b.from), std::max(a.to, b.to)}; }

SourcePlaces places_of(const Finding& f) {
  SourcePlaces out;
  for (const Site& s : f.sites) out.push_back(place_of(s));
  return out;
}

Group group_of(Finding f, size_t index) {
  Group g{.finding = std::move(f), .parts = {index}, .spans = {}};
  const auto span = [](uint32_t line) { return Range{line, uint64_t{line} + 1}; };
  for (size_t i = 0; i < std::min(g.spans.size(), g.finding.sites.size()); ++i) {
    g.spans[i] = span(g.finding.sites[i].ptx_line);
    for (const SourcePlaces& also : g.finding.also)
      if (i < also.size()) g.spans[i] = hull(g.spans[i], span(also[i].ptx_line));
  }
  return g;
}

// --- joining --------------------------------------------------------------------------------------
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

bool is_lap(const Finding& f) {
  return f.code == Code::repeated_barrier_arrival && !f.fatal && f.sites.size() == 2;
}

bool is_one_place(const Finding& f) {
  return f.sites.size() == 2 && place_of(f.sites[0]) == place_of(f.sites[1]);
}

bool is_lane_race(const Finding& f) { return f.code == Code::lane_race; }

void add_note(Finding& into, Statement note) {
  const auto same = [&](const Statement& s) { return s.phrase == note.phrase; };
  if (std::ranges::none_of(into.notes, same)) into.notes.push_back(std::move(note));
}

void join(Group& into, Group&& from) {
  if (is_lane_race(into.finding) && !is_lane_race(from.finding)) std::swap(into.finding, from.finding);
  if (!is_lane_race(into.finding) && is_lane_race(from.finding))
    add_note(into.finding, say<Phrase::lanes_race_too>());
  // Of a barrier two places of the text show more than one place twice.
  if (is_barrier(into.finding.object.kind) && is_one_place(into.finding) && !is_one_place(from.finding))
    std::swap(into.finding, from.finding);
  into.finding.count += from.finding.count;
  add_reads(into.finding, from.finding);
  add_object(into.finding.object, from.finding.object);
  add_places(into.finding, places_of(from.finding));
  for (const SourcePlaces& places : from.finding.also) add_places(into.finding, places);
  into.parts.insert(into.parts.end(), from.parts.begin(), from.parts.end());
  for (size_t i = 0; i < into.spans.size(); ++i) into.spans[i] = hull(into.spans[i], from.spans[i]);
}

// Joins groups of which one of the keys agrees and for which `fits` holds. A group without keys stays.
template <class Keys, class Fits>
std::vector<Group> join_groups(std::vector<Group> groups, Keys keys_of, Fits fits) {
  std::multimap<typename decltype(keys_of(groups.front()))::value_type, size_t> known;
  std::vector<Group> out;
  for (Group& g : groups) {
    const auto keys = keys_of(g);
    size_t found = out.size();
    for (const auto& key : keys) {
      const auto [begin, end] = known.equal_range(key);
      const auto at = std::find_if(begin, end, [&](const auto& entry) { return fits(out[entry.second], g); });
      if (at != end) found = std::min(found, at->second);
    }
    if (found == out.size())
      out.push_back(std::move(g));
    else
      join(out[found], std::move(g));
    for (const auto& key : keys) known.emplace(key, found);
  }
  return out;
}

const auto always = [](const Group&, const Group&) { return true; };

// --- the author's lines ---------------------------------------------------------------------------
// Where other schedules show the same: of those that wait, the first decides.
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

std::vector<Group> join_lines(std::vector<Group> groups) {
  using Key = std::tuple<isa::CodeNumber, FindingSeverity, size_t, std::vector<std::string>, SourcePlaces>;
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    const std::vector<std::string> arrays =
        is_memory(f.object.kind) ? names_of(f.object) : std::vector<std::string>();
    std::vector<Key> out{{f.code, f.severity, f.what.index(), arrays, lines_of(f, places_of(f))}};
    for (const SourcePlaces& also : f.also)
      out.emplace_back(f.code, f.severity, f.what.index(), arrays, lines_of(f, also));
    return out;
  };
  return join_groups(std::move(groups), keys, always);
}

std::vector<Group> join_objects(std::vector<Group> groups) {
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    const bool is_object = is_barrier(f.object.kind) || is_memory(f.object.kind);
    const bool is_named = !f.object.names.empty() || f.object.kind == Object::Kind::barrier ||
                          f.object.kind == Object::Kind::cluster_barrier;
    std::vector<Kind> out;
    if (!f.fatal && std::holds_alternative<Misuse>(f.what) && is_object && is_named)
      out.push_back(kind_of(f));
    return out;
  };
  return join_groups(std::move(groups), keys, always);
}

// A CTA exits too early: whatever was still under way.
std::vector<Group> join_exits(std::vector<Group> groups) {
  using Key = std::tuple<isa::CodeNumber, FindingSeverity, SourcePlace>;
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    std::vector<Key> out;
    const auto exit = std::ranges::find(f.sites, Does::exits, [](const Site& s) { return s.part.does; });
    if (!f.fatal && std::holds_alternative<Misuse>(f.what) && exit != f.sites.end())
      out.emplace_back(f.code, f.severity, place_of(*exit));
    return out;
  };
  return join_groups(std::move(groups), keys, always);
}

// A warp that arrives twice in a round is ahead of the others, at all named barriers that it uses.
std::vector<Group> join_laps(std::vector<Group> groups) {
  using Key = std::pair<FindingSeverity, Phrase>;
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    return is_lap(f) ? std::vector<Key>{{f.severity, f.missing.phrase}} : std::vector<Key>();
  };
  return join_groups(std::move(groups), keys, always);
}

bool at_places_of(const Finding& f, const SourcePlace& place) {
  const auto here = [&](const SourcePlace& p) {
    return place.line != 0 ? p.line == place.line && p.file == place.file : p.ptx_line == place.ptx_line;
  };
  return std::ranges::any_of(places_of(f), here) ||
         std::ranges::any_of(f.also,
                             [&](const SourcePlaces& also) { return std::ranges::any_of(also, here); });
}

// The rounds of the barriers at which a warp arrived twice mix, and what only they order races.
bool follows(const Finding& lap, const Finding& f) {
  if (lap.severity != f.severity || f.fatal || f.sites.size() != 2) return false;
  if (f.code == Code::barrier_of_two_groups)
    return at_places_of(lap, place_of(f.sites[0])) || at_places_of(lap, place_of(f.sites[1]));
  if (!std::holds_alternative<Race>(f.what)) return false;
  return std::ranges::any_of(f.missing.values, [&](const PhraseValue& v) {
    const auto* const barrier = std::get_if<Site>(&v);
    return barrier != nullptr && at_places_of(lap, place_of(*barrier));
  });
}

std::vector<Group> join_consequences(std::vector<Group> groups) {
  const auto lap = std::ranges::find_if(groups, is_lap, &Group::finding);
  if (lap == groups.end()) return groups;
  Group cause = std::move(*lap);
  groups.erase(lap);
  std::erase_if(groups, [&](Group& g) {
    if (!follows(cause.finding, g.finding)) return false;
    const bool is_race = std::holds_alternative<Race>(g.finding.what);
    add_note(cause.finding, {is_race ? Phrase::threads_race_after : Phrase::rounds_mix_after,
                             {g.finding.sites[0], g.finding.sites[1]}});
    cause.parts.insert(cause.parts.end(), g.parts.begin(), g.parts.end());
    return true;
  });
  groups.insert(groups.begin(), std::move(cause));
  return groups;
}

// Sums that depend on an order are no mistake by themselves: one remark.
std::vector<Group> join_remarks(std::vector<Group> groups) {
  const auto keys = [](const Group& g) {
    return is_remark(g.finding) ? std::vector{g.finding.code} : std::vector<isa::CodeNumber>();
  };
  return join_groups(std::move(groups), keys, always);
}

// --- conflicts ------------------------------------------------------------------------------------
bool is_one_instruction(const Finding& f) { return place_of(f.sites[0]) == place_of(f.sites[1]); }

// Which sites must be at the same place; the third one always.
struct Fixed {
  bool first, second;
};

template <class Wanted, class Fits>
std::vector<Group> join_conflicts(std::vector<Group> groups, Fixed fixed, Wanted wanted, Fits fits) {
  using Key = std::pair<Kind, SourcePlaces>;
  const auto keys = [&](const Group& g) {
    const Finding& f = g.finding;
    std::vector<Key> out;
    if (!is_conflict(f) || !wanted(f)) return out;
    SourcePlaces places = places_of(f);
    if (!fixed.first) places[0] = {};
    if (!fixed.second) places[1] = {};
    out.emplace_back(kind_of(f), std::move(places));
    return out;
  };
  return join_groups(std::move(groups), keys, fits);
}

// A race of which no more is known than who takes part in it.
bool is_plain_race(const Finding& f) {
  return is_lane_race(f) || f.code == Code::shared_memory_race || f.code == Code::global_memory_race ||
         f.code == Code::unsynchronised_flag;
}

// Two lines of the author's, in one order and in the other: what orders threads of several warps there orders
// the lanes of one warp too.
std::vector<Group> join_pairs(std::vector<Group> groups) {
  using Key = std::tuple<FindingSeverity, Object::Kind, std::vector<std::string>, SourcePlaces>;
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    std::vector<Key> out;
    if (!is_conflict(f) || !is_memory(f.object.kind) || f.sites.size() != 2 || !is_plain_race(f)) return out;
    SourcePlaces lines = lines_of(f, places_of(f));
    std::ranges::sort(lines);
    out.emplace_back(f.severity, f.object.kind, names_of(f.object), std::move(lines));
    return out;
  };
  return join_groups(std::move(groups), keys, always);
}

// The later accesses of both lie behind all earlier ones, or before them, as in a loop: one barrier between
// the two stretches of the text orders them all.
bool are_between_stretches(const Group& a, const Group& b) {
  const Range later = hull(a.spans[0], b.spans[0]), earlier = hull(a.spans[1], b.spans[1]);
  return later.from >= earlier.to || later.to <= earlier.from;
}

}  // namespace

bool is_remark(const Finding& f) { return f.code == Code::order_dependent_sum; }

std::vector<Finding> merge(std::vector<Finding> findings, std::vector<size_t>* part_of) {
  std::vector<Group> groups;
  for (size_t i = 0; i < findings.size(); ++i) groups.push_back(group_of(std::move(findings[i]), i));
  const auto every = [](const Finding&) { return true; };
  groups = join_conflicts(std::move(groups), {false, true}, every, always);
  groups = join_conflicts(std::move(groups), {true, false}, every, always);
  groups = join_lines(std::move(groups));
  groups = join_conflicts(std::move(groups), {false, false}, is_one_instruction, always);
  groups = join_conflicts(std::move(groups), {false, false}, every, are_between_stretches);
  groups = join_conflicts(std::move(groups), {false, false}, is_lane_race, always);
  groups = join_pairs(std::move(groups));
  groups = join_objects(std::move(groups));
  groups = join_laps(std::move(groups));
  groups = join_exits(std::move(groups));
  groups = join_remarks(std::move(groups));
  groups = join_consequences(std::move(groups));
  if (part_of != nullptr) part_of->assign(findings.size(), 0);
  std::vector<Finding> out;
  for (Group& g : groups) {
    if (part_of != nullptr)
      for (const size_t part : g.parts) (*part_of)[part] = out.size();
    out.push_back(std::move(g.finding));
  }
  drop_consequences(out, part_of);
  return out;
}

}  // namespace palladion::sim::check
