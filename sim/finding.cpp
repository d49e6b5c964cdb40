#include "sim/finding.h"

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
  if (s.source.known()) out += fmt::format(", {}:{}", s.source.file, s.source.line);
  if (s.ptx_line != 0) out += fmt::format(", PTX line {}", s.ptx_line);
  return out;
}

}  // namespace

std::string render(const Finding& f) {
  std::string out = fmt::format("{}[{}]: {}\n", word(f), f.code, f.message);
  for (size_t i = 0; i < f.sites.size(); ++i) {
    out += fmt::format("  --> {}\n", place(f.sites[i]));
    if (!f.sites[i].instruction.empty()) out += fmt::format("      | {}\n", f.sites[i].instruction);
    if (i < f.notes.size() && f.sites.size() > 1) out += fmt::format("      waits for {}\n", f.notes[i]);
  }
  for (size_t i = f.sites.size() > 1 ? f.sites.size() : 0; i < f.notes.size(); ++i)
    out += fmt::format("   = note: {}\n", f.notes[i]);
  if (!f.help.empty()) out += fmt::format("   = help: {}\n", f.help);
  if (f.count > 1) out += fmt::format("   = seen: {} times\n", f.count);
  return out;
}

}  // namespace palladion::sim
