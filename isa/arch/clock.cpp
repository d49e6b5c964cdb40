#include "isa/arch/clock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "isa/core/trim.h"

#include <isa/arch/clock_files.h>  // made by cmake/ClockFiles.cmake of isa/arch/clock/*.clock

namespace palladion::isa {
namespace {

constexpr ClockField fields[] = {
    {"sm.clock", "MHz", &ClockParameters::sm_clock},
    {"sm.clock_measured", "MHz", &ClockParameters::sm_clock_measured},
    {"launch.overhead", "cycles", &ClockParameters::launch_overhead},
    {"launch.full", "cycles", &ClockParameters::launch_full},
    {"launch.clock_spread", "cycles/cycle", &ClockParameters::launch_clock_spread},
    {"launch.cold", "cycles", &ClockParameters::launch_cold},
    {"launch.idle_clock", "cycles/cycle", &ClockParameters::launch_idle_clock},
    {"launch.cta_interval", "cycles", &ClockParameters::launch_cta_interval},
    {"launch.cta_replace", "cycles", &ClockParameters::launch_cta_replace},
    {"launch.warp", "cycles", &ClockParameters::launch_warp},
    {"launch.cluster_sms", "SMs", &ClockParameters::launch_cluster_sms},
    {"launch.cluster", "cycles", &ClockParameters::launch_cluster},
    {"register.increase", "cycles", &ClockParameters::register_increase},
    {"issue.first_instruction", "cycles", &ClockParameters::issue_first_instruction},
    {"branch.forward", "cycles", &ClockParameters::branch_forward},
    {"branch.taken", "cycles", &ClockParameters::branch_taken},
    {"issue.branch_predicate", "cycles", &ClockParameters::issue_branch_predicate},
    {"branch.unrolled", "turns", &ClockParameters::branch_unrolled},
    {"issue.queue", "cycles", &ClockParameters::issue_queue},
    {"issue.other_pipe", "cycles", &ClockParameters::issue_other_pipe},
    {"smem.bytes_per_cycle", "bytes/cycle", &ClockParameters::smem_bytes_per_cycle},
    {"smem.lsu_interval", "cycles", &ClockParameters::smem_lsu_interval},
    {"smem.lsu_queue", "cycles", &ClockParameters::smem_lsu_queue},
    {"smem.pass_beside_wgmma", "cycles", &ClockParameters::smem_pass_beside_wgmma},
    {"smem.beside_wgmma", "cycles", &ClockParameters::smem_beside_wgmma},
    {"smem.cas_interval", "cycles", &ClockParameters::smem_cas_interval},
    {"l1.hit_latency", "cycles", &ClockParameters::l1_hit_latency},
    {"l1.bytes_per_cycle", "bytes/cycle", &ClockParameters::l1_bytes_per_cycle},
    {"l1.bytes", "bytes", &ClockParameters::l1_bytes},
    {"l2.latency", "cycles", &ClockParameters::l2_latency},
    {"l2.spread", "cycles", &ClockParameters::l2_spread},
    {"l2.slice_spread", "cycles", &ClockParameters::l2_slice_spread},
    {"l2.bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_bytes_per_cycle},
    {"l2.gpc_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_gpc_bytes_per_cycle},
    {"l2.gpc_shared_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_gpc_shared_bytes_per_cycle},
    {"l2.sm_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_sm_bytes_per_cycle},
    {"l2.sm_write_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_sm_write_bytes_per_cycle},
    {"l2.sm_write_queue", "cycles", &ClockParameters::l2_sm_write_queue},
    {"l2.short_request", "bytes", &ClockParameters::l2_short_request},
    {"l2.write_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_write_bytes_per_cycle},
    {"l2.atomic_interval", "cycles", &ClockParameters::l2_atomic_interval},
    {"l2.atomic_full_interval", "cycles", &ClockParameters::l2_atomic_full_interval},
    {"l2.atomic_queue", "lanes", &ClockParameters::l2_atomic_queue},
    {"l2.atomic_latency", "cycles", &ClockParameters::l2_atomic_latency},
    {"l2.slices", "slices", &ClockParameters::l2_slices},
    {"l2.bytes", "bytes", &ClockParameters::l2_bytes},
    {"l2.dirty_bytes", "bytes", &ClockParameters::l2_dirty_bytes},
    {"l2.written_far", "cycles", &ClockParameters::l2_written_far},
    {"l2.mixed_bytes_per_cycle", "bytes/cycle", &ClockParameters::l2_mixed_bytes_per_cycle},
    {"l2.tma_requests", "requests/request", &ClockParameters::l2_tma_requests},
    {"l2.merge_window", "cycles", &ClockParameters::l2_merge_window},
    {"l2.merged", "requests", &ClockParameters::l2_merged},
    {"hbm.latency", "cycles", &ClockParameters::hbm_latency},
    {"hbm.spread", "cycles", &ClockParameters::hbm_spread},
    {"hbm.crowded", "cycles", &ClockParameters::hbm_crowded},
    {"hbm.crowd", "lines", &ClockParameters::hbm_crowd},
    {"hbm.scattered", "cycles", &ClockParameters::hbm_scattered},
    {"hbm.page_open", "bytes", &ClockParameters::hbm_page_open},
    {"hbm.read", "GB/s", &ClockParameters::hbm_read},
    {"hbm.write", "GB/s", &ClockParameters::hbm_write},
    {"hbm.mixed", "GB/s", &ClockParameters::hbm_mixed},
    {"hbm.write_queue", "cycles", &ClockParameters::hbm_write_queue},
    {"tma.issue_interval", "cycles", &ClockParameters::tma_issue_interval},
    {"tma.latency", "cycles", &ClockParameters::tma_latency},
    {"tma.bytes_per_cycle", "bytes/cycle", &ClockParameters::tma_bytes_per_cycle},
    {"tma.queue", "copies", &ClockParameters::tma_queue},
    {"tma.next", "copies", &ClockParameters::tma_next},
    {"tma.overtaken", "cycles", &ClockParameters::tma_overtaken},
    {"tma.row_interval", "cycles", &ClockParameters::tma_row_interval},
    {"tma.descriptor_miss", "cycles", &ClockParameters::tma_descriptor_miss},
    {"tma.multicast", "cycles", &ClockParameters::tma_multicast},
    {"tma.store_latency", "cycles", &ClockParameters::tma_store_latency},
    {"tma.store_done", "cycles", &ClockParameters::tma_store_done},
    {"bulk.bytes_per_cycle", "bytes/cycle", &ClockParameters::bulk_bytes_per_cycle},
    {"bulk.latency", "cycles", &ClockParameters::bulk_latency},
    {"wgmma.macs_per_cycle", "macs/cycle", &ClockParameters::wgmma_macs_per_cycle},
    {"wgmma.overhead", "cycles", &ClockParameters::wgmma_overhead},
    {"wgmma.least_rs", "cycles", &ClockParameters::wgmma_least_rs},
    {"wgmma.tail_ss", "cycles", &ClockParameters::wgmma_tail_ss},
    {"wgmma.tail_rs", "cycles", &ClockParameters::wgmma_tail_rs},
    {"wgmma.start", "cycles", &ClockParameters::wgmma_start},
    {"wgmma.queue", "instructions", &ClockParameters::wgmma_queue},
    {"wgmma.co_issue_delay", "cycles", &ClockParameters::wgmma_co_issue_delay},
    {"tcgen05.columns_per_cycle", "columns/cycle", &ClockParameters::tcgen05_columns_per_cycle},
    {"tcgen05.tail", "cycles", &ClockParameters::tcgen05_tail},
    {"tcgen05.pair", "cycles", &ClockParameters::tcgen05_pair},
    {"tcgen05.queue", "instructions", &ClockParameters::tcgen05_queue},
    {"tcgen05.copy_bytes_per_cycle", "bytes/cycle", &ClockParameters::tcgen05_copy_bytes_per_cycle},
    {"mbarrier.wake", "cycles", &ClockParameters::mbarrier_wake},
    {"mbarrier.wake_tx", "cycles", &ClockParameters::mbarrier_wake_tx},
    {"mbarrier.remote", "cycles", &ClockParameters::mbarrier_remote},
    {"mbarrier.remote_interval", "cycles", &ClockParameters::mbarrier_remote_interval},
    {"mbarrier.remote_again", "cycles", &ClockParameters::mbarrier_remote_again},
    {"mbarrier.timeout", "cycles", &ClockParameters::mbarrier_timeout},
    {"fence.queue", "fences", &ClockParameters::fence_queue},
    {"barrier.latency", "cycles", &ClockParameters::barrier_latency},
    {"barrier.per_warp", "cycles", &ClockParameters::barrier_per_warp},
    {"cluster_barrier.latency", "cycles", &ClockParameters::cluster_barrier_latency},
    {"cluster_barrier.per_warp", "cycles", &ClockParameters::cluster_barrier_per_warp},
    {"cluster_barrier.per_doubling", "cycles", &ClockParameters::cluster_barrier_per_doubling},
    {"async_group.wake", "cycles", &ClockParameters::async_group_wake},
    {"dsm.latency", "cycles", &ClockParameters::dsm_latency},
    {"dsm.bytes_per_cycle", "bytes/cycle", &ClockParameters::dsm_bytes_per_cycle},
    {"dsm.in_bytes_per_cycle", "bytes/cycle", &ClockParameters::dsm_in_bytes_per_cycle},
    {"dsm.acknowledged", "packets/packet", &ClockParameters::dsm_acknowledged},
    {"dsm.crowded_load", "cycles/cycle", &ClockParameters::dsm_crowded_load},
    {"dsm.crowded_store", "cycles/cycle", &ClockParameters::dsm_crowded_store},
    {"dsm.atomic", "cycles", &ClockParameters::dsm_atomic},
    {"dsm.queue", "instructions", &ClockParameters::dsm_queue},
    {"dsm.store_latency", "cycles", &ClockParameters::dsm_store_latency},
    {"dsm.store_done", "cycles", &ClockParameters::dsm_store_done},
    {"dsm.arrive_done", "cycles", &ClockParameters::dsm_arrive_done},
    {"dsm.crowded_fence", "cycles", &ClockParameters::dsm_crowded_fence},
    {"dsm.fence_tail", "cycles", &ClockParameters::dsm_fence_tail},
    {"dsm.copy_interval", "cycles", &ClockParameters::dsm_copy_interval},
    {"dsm.copy_queue", "copies", &ClockParameters::dsm_copy_queue},
    {"dsm.copy_latency", "cycles", &ClockParameters::dsm_copy_latency},
};

// Latency keys of isa/ops (Timing::latency), ascending.
constexpr std::string_view keys[] = {"address",
                                     "alu",
                                     "alu_pair",
                                     "async_group",
                                     "atom_cluster",
                                     "atom_global",
                                     "atom_shared",
                                     "atom_shared_cas",
                                     "atom_shared_loop",
                                     "barrier",
                                     "barrier_cluster",
                                     "bfe",
                                     "branch",
                                     "bulk_copy",
                                     "bulk_prefetch",
                                     "bulk_reduce",
                                     "call",
                                     "clock",
                                     "clusterlaunchcontrol",
                                     "cp_async",
                                     "createpolicy",
                                     "cvt",
                                     "cvt64",
                                     "cvt_fp8",
                                     "cvt_half",
                                     "cvt_pack",
                                     "cvt_widen",
                                     "ddiv",
                                     "dfma",
                                     "dsetp",
                                     "elect",
                                     "exit",
                                     "fdiv",
                                     "fdiv_full",
                                     "fence_acquire",
                                     "fence_cluster",
                                     "fence_cta",
                                     "fence_gpu",
                                     "fence_init",
                                     "fence_proxy",
                                     "fence_proxy_global",
                                     "fence_sys",
                                     "ffma",
                                     "frcp",
                                     "griddepcontrol",
                                     "hfma",
                                     "hsetp",
                                     "iadd",
                                     "iadd64",
                                     "idiv32",
                                     "idiv64",
                                     "imad",
                                     "imad64",
                                     "imad_hi",
                                     "imad_wide",
                                     "irem32",
                                     "ld_cluster",
                                     "ld_const",
                                     "ld_global",
                                     "ld_local",
                                     "ld_shared",
                                     "ldmatrix",
                                     "mad_wide",
                                     "mapa",
                                     "match",
                                     "mbarrier_arrive",
                                     "mbarrier_arrive_cluster",
                                     "mbarrier_init",
                                     "mbarrier_pending_count",
                                     "mbarrier_wait",
                                     "mma_f16",
                                     "mma_f64",
                                     "mma_fp8",
                                     "mma_int",
                                     "mma_tf32",
                                     "mov",
                                     "movmatrix",
                                     "mufu",
                                     "mufu64",
                                     "mufu_pair",
                                     "mufu_scaled",
                                     "mufu_x2",
                                     "multimem",
                                     "nanosleep",
                                     "none",
                                     "popc",
                                     "prefetch",
                                     "red_async",
                                     "red_cluster",
                                     "red_global",
                                     "red_shared",
                                     "redux",
                                     "sdiv32_again",
                                     "setmaxnreg",
                                     "shfl",
                                     "shfl_register",
                                     "st_async",
                                     "st_cluster",
                                     "st_global",
                                     "st_local",
                                     "st_param",
                                     "st_shared",
                                     "stack",
                                     "stmatrix",
                                     "tcgen05_alloc",
                                     "tcgen05_commit",
                                     "tcgen05_cp",
                                     "tcgen05_ld",
                                     "tcgen05_mma",
                                     "tcgen05_shift",
                                     "tcgen05_st",
                                     "tcgen05_wait",
                                     "tensor_load",
                                     "tensor_prefetch",
                                     "tensor_reduce",
                                     "tensor_store",
                                     "tensormap_fence",
                                     "tensormap_replace",
                                     "texture",
                                     "udiv32_again",
                                     "vote",
                                     "warp_sync",
                                     "wgmma",
                                     "wgmma_commit",
                                     "wgmma_fence",
                                     "wgmma_wait",
                                     "wmma"};

constexpr std::pair<std::string_view, std::string_view> op_parts[] = {
    {"slots", "instructions"}, {"interval", "cycles"}, {"latency", "cycles"}, {"held", "cycles"}};
constexpr size_t optional_part = 3;

double& part(OpCost& cost, size_t i) {
  return i == 0 ? cost.slots : i == 1 ? cost.interval : i == 2 ? cost.latency : cost.held;
}

struct Line {
  std::string_view key, unit;
  double value = 0;
};

// key = value unit | ...
bool read(std::string_view text, Line& line) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  line.key = trimmed(text.substr(0, equals));
  const std::string_view rest = trimmed(text.substr(equals + 1, text.find('|') - equals - 1));
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line.value);
  line.unit = trimmed(rest.substr(static_cast<size_t>(end - rest.data())));
  return error == std::errc{} && !line.key.empty() && std::ranges::count(text, '|') == 3;
}

// What a chip may lack, and still run programs.
const std::vector<ClockUnit>& units() {
  static const std::vector<ClockUnit> all = {
      {"tcgen05",
       {"tcgen05_alloc", "tcgen05_commit", "tcgen05_cp", "tcgen05_ld", "tcgen05_mma", "tcgen05_shift",
        "tcgen05_st", "tcgen05_wait", "clusterlaunchcontrol"}},
      {"wgmma", {"wgmma", "wgmma_commit", "wgmma_fence", "wgmma_wait"}},
      {"mma", {"mma_f16", "mma_f64", "mma_fp8", "mma_int", "mma_tf32", "wmma"}},
      {"fp64", {"ddiv", "dfma", "dsetp", "mufu64"}},
      {"tma",
       {"tensor_load", "tensor_prefetch", "tensor_reduce", "tensor_store", "tensormap_fence",
        "tensormap_replace"}},
      {"bulk", {"bulk_copy", "bulk_prefetch", "bulk_reduce"}},
      {"cluster_barrier", {"barrier_cluster"}},
      {"dsm",
       {"atom_cluster", "ld_cluster", "mbarrier_arrive_cluster", "red_async", "red_cluster", "st_async",
        "st_cluster"}},
  };
  return all;
}

// Index of the unit that a latency key, or a parameter's key ("tma.queue", "op.tensor_load.slots"), belongs
// to; -1: to none that a chip may lack.
int unit_of_op(std::string_view op) {
  const auto has = [&](const ClockUnit& u) { return std::ranges::find(u.ops, op) != u.ops.end(); };
  const auto found = std::ranges::find_if(units(), has);
  return found == units().end() ? -1 : static_cast<int>(found - units().begin());
}
int unit_of_key(std::string_view key) {
  const std::string_view first = key.substr(0, key.find('.'));
  if (first == "op") {
    key.remove_prefix(first.size() + 1);
    return unit_of_op(key.substr(0, key.find('.')));
  }
  const auto found = std::ranges::find(units(), first, &ClockUnit::name);
  return found == units().end() ? -1 : static_cast<int>(found - units().begin());
}

// Reads a file, and those that it inherits before its own lines.
class Reader {
 public:
  explicit Reader(ClockParameters::Parents parents) : parents_(parents) {
    parameters_.ops.resize(std::size(keys));
    for (const ClockField& f : fields) add_place(std::string(f.key), parameters_.*f.member, f.unit);
    for (size_t k = 0; k < std::size(keys); ++k)
      for (size_t i = 0; i < std::size(op_parts); ++i)
        add_place(fmt::format("op.{}.{}", keys[k], op_parts[i].first), part(parameters_.ops[k], i),
                  op_parts[i].second, i == optional_part);
  }

  void read_file(std::string_view text, std::string_view file) {
    at_ = {std::string(file), 0, 0};
    for (; !text.empty();) {
      const auto end = text.find('\n');
      ++at_.line;
      take(trimmed(text.substr(0, std::min(end, text.find('#')))));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    at_.line = 0;
  }

  tl::expected<ClockParameters, Diagnostics> result() {
    for (const auto& [key, place] : places_)
      if (place.state == State::missing && !place.optional && !is_absent(place.clock_unit))
        error("PLD5803", fmt::format("the parameter `{}` ({}) is missing", key, place.unit));
    if (!errors_.empty()) return tl::make_unexpected(std::move(errors_));
    return std::move(parameters_);
  }

 private:
  enum class State : uint8_t { missing, inherited, given };  // given: in the file at hand
  struct Place {
    double* value = nullptr;
    std::string_view unit;  // "cycles"
    int clock_unit = -1;    // index in units()
    bool optional = false;
    State state = State::missing;
  };

  void add_place(const std::string& key, double& value, std::string_view unit, bool optional = false) {
    places_[key] = {&value, unit, unit_of_key(key), optional};
  }

  void take(std::string_view line) {
    constexpr std::string_view inherit_word = "inherit ", without_word = "without ";
    if (line.empty()) return;
    if (line.starts_with(inherit_word)) return inherit(trimmed(line.substr(inherit_word.size())));
    if (line.starts_with(without_word)) return leave_out(trimmed(line.substr(without_word.size())));
    value(line);
  }

  void value(std::string_view text) {
    Line line;
    if (!read(text, line))
      return error("PLD5801",
                   fmt::format("`{}`: expected `key = value unit | spread | date | source`", text));
    const auto place = places_.find(std::string(line.key));
    if (place == places_.end()) return error("PLD5802", fmt::format("unknown parameter `{}`", line.key));
    Place& p = place->second;
    if (line.unit != p.unit || !(line.value >= 0))
      return error("PLD5804", fmt::format("`{}` is {} {}: it must be a number of {}, not negative", line.key,
                                          line.value, line.unit, p.unit));
    if (p.state == State::given) return error("PLD5804", fmt::format("`{}` is given twice", line.key));
    if (p.clock_unit >= 0 && (left_out_ >> p.clock_unit & 1) != 0)
      return contradiction(line.key, p.clock_unit);
    if (p.clock_unit >= 0) parameters_.absent &= ~(1U << p.clock_unit);
    p.state = State::given;
    *p.value = line.value;
  }

  void inherit(std::string_view name) {
    const auto is_missing = [](const auto& p) { return p.second.state == State::missing; };
    if (parameters_.absent != 0 || !std::ranges::all_of(places_, is_missing))
      return error("PLD5805", fmt::format("`inherit {}` must stand before all parameters, once", name));
    if (std::ranges::find(chain_, name) != chain_.end())
      return error("PLD5805",
                   fmt::format("`{}` inherits itself: {} -> {}", name, fmt::join(chain_, " -> "), name));
    const std::string_view text = parents_(name);
    if (text.empty()) return error("PLD5805", fmt::format("there is no file `{}` to inherit", name));
    const SourceLoc here = at_;
    chain_.emplace_back(name);
    read_file(text, fmt::format("{}.clock", name));
    chain_.pop_back();
    left_out_ = 0;
    at_ = here;
    for (auto& [key, place] : places_)
      if (place.state == State::given) place.state = State::inherited;
  }

  void leave_out(std::string_view name) {
    const auto unit = std::ranges::find(units(), name, &ClockUnit::name);
    if (unit == units().end()) return error("PLD5802", fmt::format("unknown unit `{}`", name));
    const auto index = static_cast<int>(unit - units().begin());
    for (auto& [key, place] : places_) {
      if (place.clock_unit != index) continue;
      if (place.state == State::given) contradiction(key, index);
      place.state = State::missing;
      *place.value = 0;
    }
    parameters_.absent |= 1U << index;
    left_out_ |= 1U << index;
  }

  void contradiction(std::string_view key, int unit) {
    error("PLD5804", fmt::format("`{}` is given, although the chip is without {}", key,
                                 units()[static_cast<size_t>(unit)].name));
  }

  bool is_absent(int unit) const { return unit >= 0 && (parameters_.absent >> unit & 1) != 0; }

  void error(std::string code, std::string message) {
    Diagnostic d;
    d.code = std::move(code);
    d.message = std::move(message);
    d.loc = at_;
    errors_.push_back(std::move(d));
  }

  ClockParameters::Parents parents_;
  SourceLoc at_;
  std::vector<std::string> chain_;  // of inherited files that are being read
  uint32_t left_out_ = 0;           // units, by the file at hand
  ClockParameters parameters_{};
  std::map<std::string, Place> places_;
  Diagnostics errors_;
};

}  // namespace

tl::expected<ClockParameters, Diagnostics> ClockParameters::parse(std::string_view text,
                                                                  std::string_view file, Parents parents) {
  Reader reader(parents);
  reader.read_file(text, file);
  return reader.result();
}

tl::expected<ClockParameters, Diagnostics> ClockParameters::parse(std::string_view text,
                                                                  std::string_view file) {
  return parse(text, file, clock_file);
}

std::span<const ClockUnit> clock_units() { return units(); }

std::string_view ClockParameters::absent_unit_of(std::string_view key) const {
  if (absent == 0) return {};
  const int unit = unit_of_op(key);
  return unit >= 0 && (absent >> unit & 1) != 0 ? units()[static_cast<size_t>(unit)].name
                                                : std::string_view{};
}

ClockParameters ClockParameters::at_sm_clock() const {
  ClockParameters p = *this;
  const double slower = sm_clock / sm_clock_measured;
  for (double* latency :
       {&p.hbm_latency, &p.hbm_spread, &p.hbm_crowded, &p.hbm_scattered, &p.hbm_write_queue})
    *latency *= slower;
  p.sm_clock_measured = sm_clock;
  return p;
}

const OpCost& ClockParameters::cost(std::string_view key) const {
  const int i = op_key(key);
  PLD_CHECK(i >= 0);  // tests hold every op's key against the list
  return ops[static_cast<size_t>(i)];
}

int op_key(std::string_view key) {
  const auto* const found = std::ranges::lower_bound(keys, key);
  return found != std::end(keys) && *found == key ? static_cast<int>(found - std::begin(keys)) : -1;
}
std::span<const std::string_view> op_keys() { return keys; }
std::span<const ClockField> clock_fields() { return fields; }

std::string_view clock_file(std::string_view arch) {
  for (const ClockFile& f : clock_files)
    if (f.arch == arch) return f.text;
  return {};
}

const ClockParameters* find_clock(std::string_view arch) {
  static const std::map<std::string_view, ClockParameters> all = [] {
    std::map<std::string_view, ClockParameters> parsed;
    for (const ClockFile& f : clock_files) {
      auto p = ClockParameters::parse(f.text, f.arch);
      PLD_CHECK(p.has_value());  // tests read every file of isa/arch/clock
      parsed.emplace(f.arch, std::move(*p));
    }
    return parsed;
  }();
  const auto found = all.find(arch);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace palladion::isa
