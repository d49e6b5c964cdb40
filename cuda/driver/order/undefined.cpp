#include "cuda/driver/order/undefined.h"

#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cuda/driver/order/findings.h"
#include "cuda/driver/order/written.h"
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::cuda::driver {
namespace {

using sim::FindingSeverity, sim::Phrase, sim::say;
using sim::check::Code;

// A byte that is not zero.
uint8_t difference(uint64_t at, uint64_t series) {
  uint64_t x = (at + (series << 56)) * 0x9E37'79B9'7F4A'7C15;
  x = (x ^ x >> 32) * 0xD6E8'FEB8'6659'FD93;
  const auto byte = static_cast<uint8_t>(x >> 56);
  return byte != 0 ? byte : 0x5A;
}

// Gives the bytes other values; a second time, their own again.
void mix(sim::GlobalMemory& memory, const order::Ranges& bytes, uint64_t series) {
  for (const order::Range& r : bytes.all())
    for (uint64_t at = r.begin; at < r.end; ++at) *memory.find(sim::Address(at), 1) ^= difference(at, series);
}

// What depends on the bytes.
struct Depends {
  bool end = false;                // whether the launch ends, or what it prints
  order::Ranges followed;          // device memory
  std::optional<uint64_t> shared;  // a byte of memory that the host, or another kernel, may read at once

  bool any() const { return end || shared || !followed.empty(); }
  void compare(sim::Address at, const std::vector<uint8_t>& other, const uint8_t* usual) {
    const Shadow* const s = shadow_of(at);
    for (uint64_t i = 0; i < other.size(); ++i) {
      if (other[i] == usual[i] || (s != nullptr && !s->is_written(at + i, 1))) continue;
      if (s != nullptr)
        followed.add(at + i, at + i + 1);
      else if (!shared)
        shared = at + i;
    }
  }
};

Depends try_other(const Launched& l, uint64_t series) {
  sim::GlobalMemory& memory = state().machine->memory();
  const Changes::Pages usual = l.changes.undo();
  mix(memory, l.reads.bytes(), series);
  Changes changes(memory, std::numeric_limits<size_t>::max());
  const sim::RunResult result = l.again(changes);
  Changes::Pages other = changes.undo();
  mix(memory, l.reads.bytes(), series);
  put(memory, usual);
  Depends d;
  d.end = !result.completed || result.printed != l.result.printed;
  if (d.end) return d;
  other.insert(l.changes.before().begin(), l.changes.before().end());  // what it did not write
  for (const auto& [at, bytes] : other) d.compare(at, bytes, memory.find(at, bytes.size()));
  d.followed.unite();
  return d;
}

sim::Statement place_of(const order::Ranges& bytes) {
  const order::Range& first = bytes.all().front();
  const sim::Allocation* const a = state().machine->memory().lookup(sim::Address(first.begin));
  return say<Phrase::unwritten_bytes>(first.begin - a->base, first.end - 1 - a->base, a->name, a->size,
                                      uint64_t{a->base});
}

void tell_reads(const Launched& l, FindingSeverity severity, sim::Statement message, sim::Statement why) {
  static std::set<std::pair<std::string, FindingSeverity>> printed;
  if (!printed.emplace(l.as.text, severity).second) return;
  constexpr size_t most_sites = 4;
  sim::Finding f;
  sim::check::complete(f, Code::unwritten_memory_read);
  f.severity = severity;
  f.kernel = l.kernel;
  f.message = std::move(message);
  for (const auto& [pc, site] : l.reads.sites())
    if (f.sites.size() < most_sites) f.sites.push_back(site);
  f.notes.push_back(place_of(l.reads.bytes()));
  if (why) f.notes.push_back(std::move(why));
  if (sim::Statement note = called(l.as)) f.notes.push_back(std::move(note));
  tell(std::move(f));
}

sim::Statement what_depends(const Depends& d) {
  if (d.end) return say<Phrase::unwritten_ends>();
  const uint64_t byte = d.shared ? *d.shared : d.followed.all().front().begin;
  const sim::Allocation* const a = state().machine->memory().lookup(sim::Address(byte));
  return say<Phrase::unwritten_changes>(byte - a->base, a->name);
}

sim::Statement& refused() {
  static sim::Statement last;
  return last;
}

}  // namespace

void note_refused(const std::string& kernel, const std::string& error) {
  refused() = say<Phrase::launch_refused>(kernel, error);
}

void judge_reads(const Launched& l) {
  const order::Ranges& bytes = l.reads.bytes();
  if (bytes.empty()) return;
  if (!l.again || !l.result.completed || !l.changes.complete())
    return tell_reads(l, FindingSeverity::strict,
                      say<Phrase::unwritten_read_untried>(text_of(l.as), bytes.bytes()), {});
  constexpr uint64_t series = 2;
  Depends d;
  for (uint64_t n = 0; n < series && !d.any(); ++n) d = try_other(l, n);
  if (!d.any()) return;
  for (const order::Range& r : d.followed.all())
    if (Shadow* const s = shadow_of(r.begin)) s->compute(r.begin, r.end - r.begin, text_of(l.as));
  tell_reads(l, d.end || d.shared ? FindingSeverity::error : FindingSeverity::strict,
             say<Phrase::unwritten_read>(text_of(l.as), bytes.bytes()), what_depends(d));
}

void judge_copied(const order::Operation& copy, const order::Touched& touched) {
  if (touched.written.empty() || shadow_of(touched.written.all().front().begin) != nullptr) return;
  order::Ranges holes, computed;
  std::string by;
  for (const order::Range& r : touched.read.all()) {
    const Shadow* const s = shadow_of(r.begin);
    if (s == nullptr) continue;
    holes.add(s->unwritten(r.begin, r.end - r.begin));
    computed.add(s->unwritten(r.begin, r.end - r.begin, true));
    if (!computed.empty()) by = s->computed_by();
  }
  if (holes.empty()) return;
  const bool whole = holes.bytes() == touched.read.bytes(), error = whole || !computed.empty();
  static std::set<std::pair<std::vector<void*>, bool>> printed;
  if (!printed.emplace(copy.calls, error).second) return;
  sim::Finding f;
  sim::check::complete(f, Code::unwritten_memory_copied);
  f.severity = error ? FindingSeverity::error : FindingSeverity::strict;
  f.message = say<Phrase::unwritten_copied>(text_of(copy), holes.bytes());
  f.notes.push_back(place_of(computed.empty() ? holes : computed));
  if (!computed.empty()) f.notes.push_back(say<Phrase::unwritten_computed>(by));
  if (const sim::Statement& why = refused(); why) f.notes.push_back(why);
  if (sim::Statement note = called(copy)) f.notes.push_back(std::move(note));
  tell(std::move(f));
}

}  // namespace palladion::cuda::driver
