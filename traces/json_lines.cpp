#include "traces/json_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace palladion::traces {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string_view name(TrackKind kind) {
  constexpr std::array<std::string_view, 11> names = {"process", "sm",       "cta",         "role",
                                                      "warp",    "tma",      "tensor_core", "in_flight",
                                                      "group",   "mbarrier", "stage"};
  return names[static_cast<size_t>(kind)];
}

// Ids are texts: many readers keep numbers as doubles.
std::string id(uint64_t value) { return fmt::format("\"{:016x}\"", value); }

std::string ids(const std::vector<uint64_t>& values) {
  std::vector<std::string> texts;
  for (const uint64_t v : values) texts.push_back(id(v));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

}  // namespace

JsonLinesSink::JsonLinesSink(std::unique_ptr<BoundedFile> file, const Header& header)
    : file_(std::move(file)) {
  file_->write(
      fmt::format("{{\"kind\":\"header\",\"version\":1,\"title\":{},\"unit\":{},\"sm_clock_mhz\":{}}}\n",
                  quoted(header.title), quoted(traces::name(header.unit)), header.sm_clock_mhz));
}

bool JsonLinesSink::add(const Track& t) {
  return file_->write(
      fmt::format("{{\"kind\":\"track\",\"id\":{},\"parent\":{},\"type\":\"{}\",\"order\":{},\"name\":{}}}\n",
                  id(t.id), t.parent == 0 ? "null" : id(t.parent), name(t.kind), t.order, quoted(t.name)));
}

bool JsonLinesSink::add(const Event& e) {
  std::string line =
      e.instant
          ? fmt::format("{{\"kind\":\"instant\",\"track\":{},\"at\":{}", id(e.track), e.from)
          : fmt::format("{{\"kind\":\"slice\",\"track\":{},\"from\":{},\"to\":{}", id(e.track), e.from, e.to);
  line += fmt::format(",\"category\":\"{}\",\"name\":{}", traces::name(e.category), quoted(e.name));
  for (const Arg& arg : e.args) {
    const auto* number = std::get_if<uint64_t>(&arg.value);
    line += fmt::format(
        ",\"{}\":{}", arg.key,
        number != nullptr ? std::to_string(*number) : quoted(std::get<std::string_view>(arg.value)));
  }
  if (!e.flows.empty()) line += ",\"flows\":" + ids(e.flows);
  if (!e.ends.empty()) line += ",\"ends\":" + ids(e.ends);
  return file_->write(line + "}\n");
}

void JsonLinesSink::finish(const std::string& note, uint64_t at) {
  std::string line = fmt::format("{{\"kind\":\"end\",\"complete\":{}", note.empty());
  if (!note.empty()) line += fmt::format(",\"note\":{},\"at\":{}", quoted(note), at);
  file_->write(line + "}\n", true);
  file_->flush();
}

}  // namespace palladion::traces
