#include "traces/open.h"

#include <fmt/format.h>

#include "traces/json_lines.h"
#include "traces/perfetto.h"
#include "traces/text.h"

namespace palladion::traces {
namespace {

bool is_perfetto(std::string_view path) {
  return path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
}

}  // namespace

bool known_extension(std::string_view path) {
  return is_perfetto(path) || path.ends_with(".jsonl") || path.ends_with(".txt");
}

tl::expected<std::unique_ptr<Sink>, std::string> open(const std::string& path, Header header,
                                                      uint64_t limit) {
  if (!known_extension(path))
    return tl::make_unexpected(fmt::format("`{}`: a trace is one of {}", path, extensions));
  auto file = BoundedFile::open(path, limit);
  if (!file) return tl::make_unexpected(file.error());
  std::unique_ptr<Sink> sink;
  if (is_perfetto(path))
    sink = std::make_unique<PerfettoSink>(std::move(*file), std::move(header));
  else if (path.ends_with(".jsonl"))
    sink = std::make_unique<JsonLinesSink>(std::move(*file), header);
  else
    sink = std::make_unique<TextSink>(std::move(*file), std::move(header));
  return sink;
}

}  // namespace palladion::traces
