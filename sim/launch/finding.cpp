#include "sim/launch/finding.h"

#include <fmt/format.h>

namespace palladion::sim {
namespace {

std::string_view word(const Finding& f) {
  switch (f.severity) {
    case FindingSeverity::error:
      return "error";
    case FindingSeverity::strict:
      return "strict";
    case FindingSeverity::unknown:
      return "unknown";
    case FindingSeverity::unsupported:
      return "unsupported";
  }
  return "error";
}

std::string place(const Site& s) {
  std::string out = fmt::format("cta ({},{},{}) warp {}", s.cta.x, s.cta.y, s.cta.z, s.warp);
  if (s.lanes != ~0U && s.lanes != 0) out += fmt::format(" lanes {:08x}", s.lanes);
  if (!s.role.empty()) out += fmt::format(" ({})", s.role);
  if (s.occurrence != 0) out += fmt::format(", execution {}", s.occurrence);
  if (s.source.known()) out += fmt::format(", {}:{}", s.source.file, s.source.line);
  if (s.ptx_line != 0) out += fmt::format(", PTX line {}", s.ptx_line);
  return out;
}

std::string part(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("   = {}: {}\n", label, text);
}

std::string site_text(const Site& s) {
  std::string out = fmt::format("  --> {}\n", place(s));
  if (!s.instruction.empty()) out += fmt::format("      | {}\n", s.instruction);
  if (!s.what.empty()) out += fmt::format("      {}\n", s.what);
  return out;
}

}  // namespace

void add_reads(Finding& into, const Finding& from) {
  into.every_read &= from.every_read && into.reads.size() + from.reads.size() <= Finding::most_reads;
  if (into.every_read) into.reads.insert(into.reads.end(), from.reads.begin(), from.reads.end());
}

// For logs and tests: the finding in few lines. The program shows more (report/text/finding_text.cpp).
std::string render(const Finding& f) {
  const bool one_a_site = f.fatal && f.notes.size() >= f.sites.size();  // a deadlock
  std::string out = fmt::format("{}[{}]: {}\n{}", word(f), f.code, f.message, part("object", f.object));
  for (size_t i = 0; i < f.sites.size(); ++i) {
    out += site_text(f.sites[i]);
    if (one_a_site && i < f.notes.size()) out += fmt::format("      waits for {}\n", f.notes[i]);
  }
  for (size_t i = one_a_site ? f.sites.size() : 0; i < f.notes.size(); ++i) out += part("note", f.notes[i]);
  out += part("missing", f.missing) + part("rule", f.rule) + part("help", f.help);
  if (f.count > 1) out += part("seen", fmt::format("{} times", f.count));
  return out;
}

}  // namespace palladion::sim
