#include "report/html/run_page.h"

#include <set>

#include "isa/core/author.h"
#include "sim/clock/report/where.h"

namespace palladion::report {
namespace {

constexpr uint64_t most_of_a_source = 1'000'000, most_of_sources = 4'000'000;  // bytes

// Files of the author's lines at which functions were inlined.
void add_callers(std::set<std::string>& names, const isa::Module& module) {
  for (const isa::SourceFrame& frame : module.frames)
    if (frame.caller != isa::no_id)
      if (const std::string& file = module.frames[frame.caller].at.file;
          isa::owner_of(file) == isa::Owner::author)
        names.insert(file);
}

// Those that the program and the findings name.
std::set<std::string> source_names(const json::object& recorded, const isa::Module* module,
                                   std::span<const SeenFinding> findings) {
  std::set<std::string> names;
  if (module != nullptr) add_callers(names, *module);
  if (const auto* instructions = recorded.if_contains("instructions"))
    for (const json::value& i : instructions->as_array()) names.emplace(i.as_array()[1].as_string());
  for (const SeenFinding& seen : findings)
    for (const sim::Site& site : seen.finding.sites) names.insert(site.source.file);
  names.erase("");
  return names;
}

// {"files": {name: text}, "ptx": the name of the PTX's text, or ""}: the sources as far as they can be read;
// `not_shown` are the others.
json::object sources_json(const RunPage& page, const json::object& recorded) {
  const Launched& launched = page.launched;
  json::object files;
  json::array not_shown;
  uint64_t bytes = 0;
  const auto add = [&](const std::string& name, const std::string& text) {
    bytes += text.size();
    if (bytes <= most_of_sources)
      files.emplace(name, text);
    else
      not_shown.emplace_back(name);
  };
  const bool has_ptx = !launched.ptx_name.empty() && !launched.job->ptx.empty();
  if (has_ptx) add(launched.ptx_name, launched.job->ptx);
  for (const std::string& name : source_names(recorded, launched.job->module, page.findings)) {
    if (files.contains(name)) continue;
    const auto text = page.read_source ? page.read_source(name, most_of_a_source) : std::nullopt;
    if (text)
      add(name, *text);
    else
      not_shown.emplace_back(name);
  }
  return {{"files", std::move(files)},
          {"not_shown", std::move(not_shown)},
          {"ptx", has_ptx ? launched.ptx_name : ""}};
}

// The chip's rates, for the roofline; the clock's parameters where it ran.
json::object chip_json(const isa::ArchSpec& arch, const isa::ClockParameters* clock) {
  json::object out = {{"name", arch.name},
                      {"chip", arch.chip},
                      {"sms", arch.sm_count},
                      {"tensor_lanes", arch.tensor_lanes},
                      {"tensor_columns", arch.tensor_columns},
                      {"shared_bytes", arch.shared_bytes_per_sm}};
  if (clock == nullptr) return out;
  const isa::ClockParameters& p = *clock;
  append(out, {{"sm_clock_mhz", p.sm_clock},
               {"tflops_16_bits", sim::peak_tflops(arch, p, 16)},
               {"hbm_gb_per_s", p.hbm_read},
               {"l2_gb_per_s", p.l2_bytes_per_cycle * p.sm_clock * 1e-3}});
  return out;
}

json::array error_maps_json(std::span<const NamedComparison* const> comparisons) {
  json::array maps;
  for (const NamedComparison* c : comparisons)
    if (!c->map.empty()) maps.push_back(json::object{{"output", c->output}, {"map", c->map}});
  return maps;
}

}  // namespace

std::string run_page(const RunPage& page) {
  PageParts parts;
  if (page.recording != nullptr) parts = page.recording->parts();
  parts.title = page.launched.name;
  parts.report = page.report;
  append(parts.more, {{"folder", page.folder},
                      {"sources", sources_json(page, parts.recorded)},
                      {"chip", chip_json(*page.launched.arch, page.clock)},
                      {"error_maps", error_maps_json(page.comparisons)}});
  return page_text(parts);
}

}  // namespace palladion::report
