#include "sim/check/numerics/numerics.h"

#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

// Numbers of one lane in one register.
uint32_t parts(isa::Type t) { return t == isa::Type::f16x2 || t == isa::Type::bf16x2 ? 2 : 1; }

size_t saved_bytes(const NumericsAnalysis::Watched& w) {
  size_t sum = 0;
  for (const auto& s : w.sources) sum += s.lane_bytes;
  return sum;
}

}  // namespace

Numerics::Numerics(const ClusterContext& context, const NumericsAnalysis& analysis)
    : context_(context),
      analysis_(analysis),
      warps_(context.run.launch->warps_per_cta()),
      done_(context.run.program->code.size()),
      nan_found_(warps_ * context.run.launch->cluster.count()) {}

const uint8_t* Numerics::bytes_of(const Origin& origin, const Value& v) const {
  const uint8_t* block = v.slot.constant
                             ? context_.run.program->constants.data()
                             : context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers.data();
  return block + v.slot.offset;
}

void Numerics::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc) || done_[origin.pc] != 0) return;
  const Watched& w = analysis_.watched(origin.pc);
  if (!w.overwrites || saved_bytes(w) > max_saved) return;
  uint8_t* to = saved_.data();
  for (const Value& s : w.sources) {
    std::memcpy(to, bytes_of(origin, s), size_t{32} * s.lane_bytes);
    to += size_t{32} * s.lane_bytes;
  }
}

// The bytes that a source had before the instruction; nullptr when they were overwritten.
const uint8_t* Numerics::source(const Origin& origin, const Watched& w, size_t index) const {
  if (!w.overwrites) return bytes_of(origin, w.sources[index]);
  if (saved_bytes(w) > max_saved) return nullptr;
  size_t at = 0;
  for (size_t i = 0; i < index; ++i) at += size_t{32} * w.sources[i].lane_bytes;
  return saved_.data() + at;
}

void Numerics::on(const Executed& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc) || done_[origin.pc] != 0) return;
  const Watched& w = analysis_.watched(origin.pc);
  for (const Value& d : w.destinations)
    if (suspicious(d.type, bytes_of(origin, d), size_t{32} * d.lane_bytes)) judge(origin, w, d);
}

void Numerics::judge(const Origin& origin, const Watched& w, const Value& d) {
  const uint8_t* bytes = bytes_of(origin, d);
  for (Lane lane{0}; lane < 32; ++lane) {
    if ((origin.lanes >> lane & 1) == 0) continue;
    for (uint32_t part = 0; part < parts(d.type); ++part) {
      const Special made = special(d.type, bytes + size_t{lane} * d.lane_bytes + part * number_bytes(d.type));
      if (!made.any()) continue;
      const Special had = special_sources(origin, w, lane, part);
      const bool half = number_bytes(d.type) == 2 && (d.type == isa::Type::f16 || d.type == isa::Type::f16x2);
      if (made.nan && !had.nan && nan_found(origin) == 0) report(origin, w, Code::first_nan, lane, part);
      if (made.infinite && half && !had.any()) report(origin, w, Code::narrow_overflow, lane, part);
      if (done_[origin.pc] != 0) return;
    }
  }
}

// Which special values the result's operands had already. Of a mma all lanes' operands count.
Special Numerics::special_sources(const Origin& origin, const Watched& w, Lane lane, uint32_t part) const {
  Special all;
  for (size_t i = 0; i < w.sources.size(); ++i) {
    const Value& s = w.sources[i];
    const uint8_t* bytes = source(origin, w, i);
    if (bytes == nullptr) return {true, true};  // unknown: no finding
    if (w.across_lanes)
      all |= special_in(s.type, bytes, size_t{32} * s.lane_bytes);
    else
      all |= special(s.type, bytes + size_t{lane} * s.lane_bytes +
                                 std::min(part, parts(s.type) - 1) * number_bytes(s.type));
  }
  return all;
}

Statement Numerics::operands(const Origin& origin, const Watched& w, Lane lane, uint32_t part) const {
  Statement out{.phrase = Phrase::operands, .values = {int64_t{lane}}};
  for (size_t i = 0; i < w.sources.size(); ++i) {
    const Value& s = w.sources[i];
    const uint8_t* bytes = source(origin, w, i);
    if (number_bytes(s.type) == 0 || bytes == nullptr) continue;
    const double v = value(s.type, bytes + size_t{lane} * s.lane_bytes +
                                       std::min(part, parts(s.type) - 1) * number_bytes(s.type));
    out.values.emplace_back(v);
  }
  return out;
}

void Numerics::report(const Origin& origin, const Watched& w, Code code, Lane lane, uint32_t part) {
  done_[origin.pc] = 1;
  if (code == Code::first_nan) nan_found(origin) = 1;
  const FindingKey key{code, origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  const bool overflow = code == Code::narrow_overflow;
  Origin at = origin;
  at.lanes = 1U << lane;
  Finding f;
  f.message = overflow ? say<Phrase::f16_overflow>() : say<Phrase::nan_from_numbers>();
  f.sites.push_back(context_.reporter.site(at, overflow ? Does::overflows : Does::makes_nan));
  if (!w.across_lanes) f.notes.push_back(operands(origin, w, lane, part));
  f.missing = overflow ? say<Phrase::end_of_f16>() : say<Phrase::no_such_value>();
  f.rule = overflow ? "Half Precision Floating Point Instructions" : "Floating Point Instructions";
  f.help = overflow ? say<Phrase::accumulate_in_f32>() : say<Phrase::keep_infinities_out>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
