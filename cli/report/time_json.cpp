// The clock's report for programs.
#include "cli/support/json.h"
#include "cli/report/time_report.h"

namespace palladion::cli {
namespace {

// "long_scoreboard": names as keys.
std::string key_of(std::string_view name) {
  std::string key(name);
  for (char& c : key) c = c == ' ' ? '_' : c;
  return key;
}

void write_occupancy(JsonWriter& json, const TimeReport& time) {
  const Registers& r = time.registers;
  json.key("occupancy").begin_object().member("ctas_per_sm", time.ctas_per_sm);
  json.member("registers", r.count).member("registers_from", name(r.from));
  if (r.ptxas) {
    json.key("ptxas").begin_object().member("registers", r.ptxas->registers);
    json.member("stack_bytes", r.ptxas->stack_bytes)
        .member("spill_store_bytes", r.ptxas->spill_store_bytes)
        .member("spill_load_bytes", r.ptxas->spill_load_bytes);
    json.member("barriers", r.ptxas->barriers).member("shared_bytes", r.ptxas->shared_bytes);
    json.member("spills_in_the_clock", false).end_object();
  }
  json.end_object();
}

void write_counters(JsonWriter& json, const sim::ClockCounters& c) {
  json.key("counters").begin_object().member("instructions", c.instructions);
  json.member("tensor_cycles", c.tensor_cycles).member("smem_bank_conflicts", c.smem_bank_conflicts);
  json.member("l2_read_sectors", c.l2_read_sectors)
      .member("l2_write_sectors", c.l2_write_sectors)
      .member("l2_hit_sectors", c.l2_hit_sectors);
  json.member("dram_read_bytes", c.dram_read_bytes).member("dram_write_bytes", c.dram_write_bytes);
  json.end_object();
}

void write_busy(JsonWriter& json, const sim::ClockReport& clock) {
  json.key("busy").begin_object();
  for (size_t i = 0; i < sim::resource_count; ++i)
    json.member(key_of(sim::name(static_cast<sim::Resource>(i))), clock.busy[i]);
  json.end_object();
  json.member("critical", sim::name(sim::critical(clock))).member("limit", sim::limit_text(clock));
}

void write_warp_time(JsonWriter& json, const sim::WarpTime& time) {
  json.member("warps", time.warps).member("issued", time.issued).member("cycles", time.total());
  json.key("stalls").begin_object();
  for (size_t i = 0; i < sim::stall_count; ++i)
    if (time.cycles[i] != 0) json.member(key_of(sim::name(static_cast<sim::Stall>(i))), time.cycles[i]);
  json.end_object();
}

void write_where(JsonWriter& json, const sim::Where& where) {
  json.member("warp_cycles", where.warp_cycles).key("roles").begin_array();
  for (const sim::RoleWhere& role : where.roles) {
    json.begin_object().member("deeds", role.deeds);
    write_warp_time(json, role);
    json.end_object();
  }
  json.end_array().key("lines").begin_array();
  for (const sim::LineWhere& line : where.lines) {
    json.begin_object().member("file", line.source.file).member("line", line.source.line);
    json.member("ptx_line", line.ptx_line).member("instruction", line.instruction);
    write_warp_time(json, line);
    json.end_object();
  }
  json.end_array();
}

void write_why(JsonWriter& json, const WhyReport& why) {
  json.key("why").begin_object().member("cycles", why.cycles).member("values", name(why.values));
  json.member("interrupted", why.interrupted).key("gains").begin_array();
  for (const sim::Gain& gain : why.gains) {
    json.begin_object().member("relaxation", gain.relaxation->name).member("cycles", gain.cycles);
    json.member("saved", gain.saved).member("advice", gain.relaxation->advice).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_time(JsonWriter& json, const TimeReport& time) {
  json.key("clock").begin_object().member("cycles", time.clock.cycles);
  json.member("microseconds", time.clock.microseconds()).member("sm_clock_mhz", time.clock.sm_clock_mhz);
  json.member("l2", name(time.l2))
      .member("values", name(time.values))
      .member("power_throttling_modelled", false);
  json.member("tensor_flops", time.where.tensor_flops).member("tflops", time.tflops());
  json.member("array_bytes", time.array_bytes).member("gb_per_s", time.gb_per_s());
  write_occupancy(json, time);
  write_counters(json, time.clock.counters);
  write_busy(json, time.clock);
  write_where(json, time.where);
  if (time.why) write_why(json, *time.why);
  json.end_object();
}

}  // namespace palladion::cli
