#include "cuda/driver/findings_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "isa/core/visible.h"
#include "report/text/finding_text.h"

namespace palladion::cuda::driver {
namespace {

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", escaped(text)); }

std::string site_json(const sim::Site& s) {
  return fmt::format(
      "{{\"cta\": [{}, {}, {}], \"warp\": {}, \"lanes\": \"{:08x}\", \"does\": \"{}\", \"what\": {}, "
      "\"file\": {}, "
      "\"line\": {}, \"ptx_line\": {}, \"instruction\": {}}}",
      s.cta.x, s.cta.y, s.cta.z, s.warp, s.lanes, report::name_of(s.part.does),
      quoted(report::text_of(s.part, s.source.known())), quoted(s.source.file), s.source.line, s.ptx_line,
      quoted(s.instruction));
}

std::string finding_json(std::string_view kernel, const sim::Finding& f) {
  std::vector<std::string> sites, notes;
  for (const sim::Site& s : f.sites) sites.push_back(site_json(s));
  for (const std::string& note : report::notes_text(f)) notes.push_back(quoted(note));
  return fmt::format(
      "{{\"kernel\": {}, \"code\": \"{}\", \"severity\": \"{}\", \"fatal\": {}, \"message\": {}, \"object\": "
      "{}, "
      "\"sites\": [{}], \"notes\": [{}], \"missing\": {}, \"rule\": {}, \"help\": {}, \"count\": {}}}",
      quoted(kernel), f.code.name(), report::word(f.severity), f.fatal, quoted(report::message_text(f)),
      quoted(report::object_text(f)), fmt::join(sites, ", "), fmt::join(notes, ", "),
      quoted(report::missing_text(f)), quoted(report::rule_text(f)), quoted(report::help_text(f)), f.count);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : isa::valid_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string findings_json(std::string_view kernel, std::span<const sim::Finding> findings) {
  std::vector<std::string> out;
  for (const sim::Finding& f : findings) out.push_back("\n  " + finding_json(kernel, f));
  return fmt::format("{}", fmt::join(out, ","));
}

}  // namespace palladion::cuda::driver
