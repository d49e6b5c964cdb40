#include "traces/json_lines.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace palladion::traces {
namespace {

namespace json = boost::json;

// Ids are texts: many readers keep numbers as doubles.
std::string id(uint64_t value) { return fmt::format("{:016x}", value); }

json::array ids(const std::vector<uint64_t>& values) {
  json::array out;
  for (const uint64_t v : values) out.emplace_back(id(v));
  return out;
}

json::value value_of(const Arg& arg) {
  if (const auto* number = std::get_if<uint64_t>(&arg.value)) return *number;
  return json::value(std::get<std::string_view>(arg.value));
}

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

}  // namespace

JsonLinesSink::JsonLinesSink(std::unique_ptr<BoundedFile> file, const Header& header)
    : FileSink(std::move(file)) {
  // By hand, because Boost.JSON writes 1980.0 as 1.98E3.
  file_->write(
      fmt::format("{{\"kind\":\"header\",\"version\":1,\"title\":{},\"unit\":\"{}\",\"sm_clock_mhz\":{}}}\n",
                  json::serialize(header.title), traces::name(header.unit), header.sm_clock_mhz));
}

bool JsonLinesSink::add(const Track& t) {
  return file_->write(line_of({{"kind", "track"},
                               {"id", id(t.id)},
                               {"parent", t.parent == 0 ? json::value() : json::value(id(t.parent))},
                               {"type", traces::name(t.kind)},
                               {"order", t.order},
                               {"name", t.name}}));
}

bool JsonLinesSink::add(const Event& e) {
  // The values of a line share one block of memory: there may be millions of lines.
  std::array<unsigned char, 4096> block;
  json::monotonic_resource memory(block.data(), block.size());
  json::object line(&memory);
  line.emplace("kind", e.instant ? "instant" : "slice");
  line.emplace("track", id(e.track));
  line.emplace(e.instant ? "at" : "from", e.from);
  if (!e.instant) line.emplace("to", e.to);
  line.emplace("category", traces::name(e.category));
  line.emplace("name", e.name);
  for (const Arg& arg : e.args) line.emplace(arg.key, value_of(arg));
  if (!e.flows.empty()) line.emplace("flows", ids(e.flows));
  if (!e.ends.empty()) line.emplace("ends", ids(e.ends));
  return file_->write(line_of(line));
}

void JsonLinesSink::finish(const std::string& note, uint64_t at) {
  json::object line = {{"kind", "end"}, {"complete", note.empty()}};
  if (!note.empty()) {
    line.emplace("note", note);
    line.emplace("at", at);
  }
  file_->write(line_of(line), true);
  file_->flush();
}

}  // namespace palladion::traces
