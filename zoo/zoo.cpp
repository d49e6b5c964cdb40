#include "zoo/zoo.h"

#include <algorithm>
#include <utility>

#include "isa/core/diagnostic.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "zoo/groups.h"

namespace palladion::zoo {
namespace {

constexpr std::string_view broken_only = "//! broken", good_only = "//! good";

std::string_view trim_end(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t");
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

// One line of a twin. A line of the other twin leaves an empty one: both number their lines alike.
std::string_view twin_line(std::string_view line, bool broken) {
  const std::string_view mine = broken ? broken_only : good_only, other = broken ? good_only : broken_only;
  line = trim_end(line);
  if (line.ends_with(other)) return {};
  if (line.ends_with(mine)) return trim_end(line.substr(0, line.size() - mine.size()));
  return line;
}

// A twin with everything that its job points to.
struct PtxTwin {
  std::string text;
  isa::Module module;
};

std::shared_ptr<const PtxTwin> parse_twin(std::string text) {
  auto parsed = isa::parse(text);
  if (!parsed) throw isa::Error(parsed.error());
  const isa::Diagnostics wrong = isa::verify(*parsed);
  if (!wrong.empty()) throw isa::Error(wrong);
  return std::make_shared<const PtxTwin>(PtxTwin{std::move(text), std::move(*parsed)});
}

std::string only_entry(const isa::Module& module) {
  const auto entry = std::ranges::find_if(module.functions, [](const isa::Function& f) { return f.entry; });
  return entry == module.functions.end() ? std::string() : entry->name;
}

Specimen launch_of(const PtxPair& pair, bool broken) {
  const auto twin = parse_twin(twin_text(pair.text, broken));
  Job job;
  job.module = &twin->module;
  job.ptx = twin->text;
  job.entry = only_entry(twin->module);
  job.grid = pair.grid;
  job.block = pair.block;
  job.cluster = pair.cluster;
  job.dynamic_shared = pair.dynamic_shared;
  job.buffers = pair.buffers;
  job.params = pair.params;
  return {twin, std::move(job)};
}

int group_of(std::string_view entry) {
  constexpr std::string_view groups[] = {"MB", "TX", "TM", "WG", "NB", "DV",
                                         "CL", "DL", "GM", "UN", "RS", "NU"};
  return int(std::ranges::find(groups, entry.substr(0, 2)) - std::begin(groups));
}

std::vector<Pair> collect() {
  std::vector<Pair> all;
  for (const auto group :
       {mbarrier_pairs, transaction_pairs, async_copy_pairs, wgmma_pairs, named_barrier_pairs,
        divergence_pairs, cluster_pairs, deadlock_pairs, global_memory_pairs, memory_use_pairs,
        resource_pairs, numerics_pairs, history_pairs})
    std::ranges::move(group(), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, [](const Pair& p) { return std::pair(group_of(p.entry), p.entry); });
  return all;
}

}  // namespace

std::span<const Pair> all_pairs() {
  static const std::vector<Pair> pairs = collect();
  return pairs;
}

const Pair* find_pair(std::string_view name) {
  const auto pairs = all_pairs();
  const auto it = std::ranges::find(pairs, name, &Pair::name);
  return it == pairs.end() ? nullptr : &*it;
}

std::string twin_text(std::string_view text, bool broken) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += twin_line(text.substr(0, end), broken);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Pair ptx_pair(PtxPair pair) {
  Pair out{.name = pair.name,
           .entry = pair.entry,
           .title = pair.title,
           .code = pair.code,
           .also = pair.also,
           .severity = pair.severity,
           .on_device = pair.on_device,
           .needs_exploration = pair.needs_exploration,
           .make = {}};
  out.make = [pair = std::move(pair)](bool broken) { return launch_of(pair, broken); };
  return out;
}

Pair recorded_pair(RecordedPair pair) {
  Pair out{.name = pair.name,
           .entry = pair.entry,
           .title = pair.title,
           .code = pair.code,
           .also = {},
           .severity = pair.severity,
           .on_device = pair.on_device,
           .needs_exploration = false,
           .make = {}};
  out.make = [record = std::move(pair.record), inputs = std::move(pair.inputs)](bool broken) {
    const auto kernel = std::make_shared<const plgpu::Kernel>(record(broken));
    return Specimen{kernel, job_of(*kernel, inputs ? inputs() : std::vector<Array>{})};
  };
  return out;
}

}  // namespace palladion::zoo
