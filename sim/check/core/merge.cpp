#include "sim/check/core/merge.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/check/catalogue/code.h"
#include "sim/check/core/consequences.h"
#include "sim/check/core/merge_groups.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

bool is_lap(const Finding& f) {
  return f.code == Code::repeated_barrier_arrival && !f.fatal && f.sites.size() == 2;
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
std::vector<Group> join_lines(std::vector<Group> groups) {
  using Key = std::tuple<isa::CodeNumber, FindingSeverity, size_t, std::vector<std::string>, SourcePlaces>;
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    std::vector<std::string> arrays =
        is_memory(f.object.kind) ? names_of(f.object) : std::vector<std::string>();
    // Without a place in a kernel the sentence tells one from another: operations of the host.
    for (const PhraseValue& v : f.sites.empty() ? f.message.values : std::vector<PhraseValue>())
      if (const auto* const text = std::get_if<std::string>(&v)) arrays.push_back(*text);
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
    if (std::holds_alternative<Misuse>(f.what) && is_object && is_named) out.push_back(kind_of(f));
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

// The rounds of the barriers at which a warp arrived twice mix, and what only they order races.
bool follows(const Finding& lap, const Finding& f) {
  if (lap.severity != f.severity || f.fatal || f.sites.size() != 2) return false;
  if (f.code == Code::barrier_of_two_groups)
    return is_at(lap, place_of(f.sites[0])) || is_at(lap, place_of(f.sites[1]));
  if (!std::holds_alternative<Race>(f.what)) return false;
  return std::ranges::any_of(f.missing.values, [&](const PhraseValue& v) {
    const auto* const barrier = std::get_if<Site>(&v);
    return barrier != nullptr && is_at(lap, place_of(*barrier));
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
         f.code == Code::unsynchronised_flag || f.code == Code::read_before_copy_completion ||
         f.code == Code::read_before_store_completion;
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

// One operation that nothing waits for, and several arrays that it has: operands of a product, slots of a
// ring.
std::vector<Group> join_operands(std::vector<Group> groups) {
  struct Key {
    isa::CodeNumber code;
    FindingSeverity severity;
    std::vector<SiteKind> sites;
    Statement missing;
    size_t fixed;  // which site is the operation's
    SourcePlaces place;
    auto order() const { return std::tie(code, severity, sites, missing.phrase, fixed, place); }
    bool operator<(const Key& other) const { return order() < other.order(); }
  };
  const auto keys = [](const Group& g) {
    const Finding& f = g.finding;
    std::vector<Key> out;
    if (!is_conflict(f) || !std::holds_alternative<Race>(f.what) || !is_missing_wait(f.missing.phrase))
      return out;
    for (size_t i = 0; i < 2; ++i)
      if (f.sites[i].part.asynchronous)
        out.push_back(
            {f.code, f.severity, kind_of(f).sites, f.missing, i, lines_of(f, {place_of(f.sites[i])})});
    return out;
  };
  return join_groups(std::move(groups), keys, [](const Group& a, const Group& b) {
    return a.finding.missing == b.finding.missing && a.finding.object.kind == b.finding.object.kind;
  });
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
  groups = join_operands(std::move(groups));
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
