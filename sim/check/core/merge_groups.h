#pragma once
// A finding and those of the same mistake: what is compared of them, and how they become one.
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/check/catalogue/code.h"
#include "sim/launch/finding.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {

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

Kind kind_of(const Finding& f);

// How often a statement went wrong, by its lines, by the kinds of its instructions, and by the instructions:
// unrolled copies of one add up, several instructions of a statement go wrong together.
using Counts = std::map<SourcePlaces, std::map<std::vector<SiteKind>, std::map<SourcePlaces, uint64_t>>>;

// A finding, and those that are the same mistake of other instructions.
struct Group {
  Finding finding;
  std::vector<size_t> parts;
  std::array<Range, 2> spans;  // PTX lines of the first two sites
  Counts counts;
};

Group group_of(Finding f, size_t index);
// `from` becomes a part of `into`.
void join(Group& into, Group&& from);

bool is_memory(Object::Kind kind);
bool is_barrier(Object::Kind kind);
// Two sites of the text, or three with the wait that did not order them, in memory or registers.
bool is_conflict(const Finding& f);
bool is_lane_race(const Finding& f);
// The names of its arrays or mbarriers, each once.
std::vector<std::string> names_of(const Object& object);
SourcePlaces places_of(const Finding& f);
// One of its sites, or of those of the same mistake elsewhere, is there.
bool is_at(const Finding& f, const SourcePlace& place);
// The missing edge is a wait for the end of an asynchronous operation.
bool is_missing_wait(Phrase missing);
// The author's lines of the places, or those of the PTX. Where other schedules show the same: of those that
// wait, the first decides.
SourcePlaces lines_of(const Finding& f, const SourcePlaces& places);
Range hull(const Range& a, const Range& b);
// Unless there is one with its phrase.
void add_note(Finding& into, Statement note);

}  // namespace palladion::sim::check
