// The clock's report for programs.
#include "report/run/advice.h"
#include "report/run/run_json.h"

namespace palladion::report {
namespace {

// "long_scoreboard": names as keys.
std::string key_of(std::string_view name) {
  std::string key(name);
  for (char& c : key) c = c == ' ' ? '_' : c;
  return key;
}

json::object occupancy_json(const TimeReport& time) {
  const Registers& r = time.registers;
  json::object out = {
      {"ctas_per_sm", time.ctas_per_sm}, {"registers", r.count}, {"registers_from", report::name(r.from)}};
  if (r.ptxas)
    out.emplace("ptxas", json::object{{"registers", r.ptxas->registers},
                                      {"stack_bytes", r.ptxas->stack_bytes},
                                      {"spill_store_bytes", r.ptxas->spill_store_bytes},
                                      {"spill_load_bytes", r.ptxas->spill_load_bytes},
                                      {"barriers", r.ptxas->barriers},
                                      {"shared_bytes", r.ptxas->shared_bytes},
                                      {"spills_in_the_clock", false}});
  return out;
}

json::object counters_json(const sim::ClockCounters& c) {
  return {{"instructions", c.instructions},
          {"tensor_cycles", c.tensor_cycles},
          {"smem_bank_conflicts", c.smem_bank_conflicts},
          {"l2_read_sectors", c.l2_read_sectors},
          {"l2_write_sectors", c.l2_write_sectors},
          {"l2_hit_sectors", c.l2_hit_sectors},
          {"dram_read_bytes", c.dram_read_bytes},
          {"dram_write_bytes", c.dram_write_bytes}};
}

json::object busy_json(const sim::ClockReport& clock) {
  json::object out;
  for (size_t i = 0; i < sim::resource_count; ++i)
    out.emplace(key_of(sim::name(static_cast<sim::Resource>(i))), clock.busy[i]);
  return out;
}

json::object warp_time_json(const sim::WarpTime& time) {
  json::object stalls;
  for (size_t i = 0; i < sim::stall_count; ++i)
    if (time.cycles[i] != 0) stalls.emplace(key_of(sim::name(static_cast<sim::Stall>(i))), time.cycles[i]);
  return {{"warps", time.warps},
          {"issued", time.issued},
          {"cycles", time.total()},
          {"stalls", std::move(stalls)}};
}

json::object role_json(const sim::RoleWhere& role) {
  json::object out = {{"operations", role.operations}};
  append(out, warp_time_json(role));
  return out;
}

json::object caller_json(const sim::CallerWhere& caller) {
  json::object out = {{"file", caller.at.file}, {"line", caller.at.line}};
  append(out, warp_time_json(caller));
  return out;
}

json::object line_json(const sim::LineWhere& line) {
  json::object out = {{"file", line.source.file},
                      {"line", line.source.line},
                      {"ptx_line", line.ptx_line},
                      {"instruction", line.instruction}};
  append(out, warp_time_json(line));
  if (!line.callers.empty()) out.emplace("callers", array_of(line.callers, caller_json));
  return out;
}

json::object residency_json(const sim::Residency& r) {
  const auto scarce_json = [](const sim::ScarceResource& s) {
    return json::object{{"resource", sim::name(s.resource)},
                        {"unit", sim::unit(s.resource)},
                        {"taken", s.taken},
                        {"most", s.most}};
  };
  return {{"clusters", r.clusters},       {"at_once", r.at_once},
          {"waves", r.waves()},           {"last_wave", r.last_wave()},
          {"ctas_per_sm", r.ctas_per_sm}, {"in_the_way_of_one_more", array_of(r.scarce, scarce_json)}};
}

json::object why_json(const TimeReport& time) {
  const WhyReport& why = *time.why;
  const auto gain_json = [](const sim::Gain& gain) {
    return json::object{{"relaxation", gain.relaxation->name},
                        {"cycles", gain.cycles},
                        {"saved", gain.saved},
                        {"advice", gain.relaxation->advice}};
  };
  const auto group_json = [](const sim::GroupGain& group) {
    return json::object{
        {"relaxations",
         array_of(group.members, [](const sim::Relaxation* r) { return json::value(r->name); })},
        {"cycles", group.cycles},
        {"saved", group.saved},
        {"tried_alone", group.tried_alone}};
  };
  const auto changed_json = [](const verify::Changed& c) {
    return json::object{{"change", c.change}, {"cycles", c.cycles}, {"saved", c.saved}};
  };
  const auto advice_json = [](const Advice& a) {
    return json::object{{"about", a.about}, {"text", a.text}, {"from", a.from}};
  };
  json::array changes = array_of(why.variants, changed_json);
  if (why.one_more) changes.push_back(changed_json(*why.one_more));
  return {{"cycles", why.cycles},
          {"values", report::name(why.values)},
          {"interrupted", why.interrupted},
          {"runs", why.runs},
          {"most_runs", why.plan.most},
          {"gains", array_of(why.relaxed.gains, gain_json)},
          {"together", array_of(why.relaxed.groups, group_json)},
          {"changes", std::move(changes)},
          {"residency", residency_json(why.residency)},
          {"advice", array_of(advice_of(time, {}), advice_json)}};
}

}  // namespace

json::object time_json(const TimeReport& time) {
  json::object out = {{"cycles", time.clock.cycles},
                      {"microseconds", time.clock.microseconds()},
                      {"sm_clock_mhz", time.clock.sm_clock_mhz},
                      {"l2", report::name(time.l2)},
                      {"values", report::name(time.values)},
                      {"clock_measured", time.measured},
                      {"power_throttling_modelled", false},
                      {"tensor_flops", time.where.tensor_flops},
                      {"tflops", time.tflops()},
                      {"array_bytes", time.array_bytes},
                      {"gb_per_s", time.gb_per_s()},
                      {"occupancy", occupancy_json(time)},
                      {"counters", counters_json(time.clock.counters)},
                      {"busy", busy_json(time.clock)},
                      {"critical", sim::name(sim::critical(time.clock))},
                      {"limit", sim::limit_text(time.clock)},
                      {"warp_cycles", time.where.warp_cycles},
                      {"roles", array_of(time.where.roles, role_json)},
                      {"lines", array_of(time.where.lines, line_json)}};
  if (time.why) out.emplace("why", why_json(time));
  return out;
}

}  // namespace palladion::report
