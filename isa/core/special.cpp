#include "isa/core/special.h"

#include <algorithm>
#include <charconv>

namespace palladion::isa {
namespace {

struct Row {
  Special special;
  std::string_view name;
  Type type = Type::u32;
  bool vector = false;
};

// In the order of the enumeration.
constexpr Row rows[] = {
    {Special::tid, "tid", Type::u32, true},
    {Special::ntid, "ntid", Type::u32, true},
    {Special::laneid, "laneid"},
    {Special::warpid, "warpid"},
    {Special::nwarpid, "nwarpid"},
    {Special::ctaid, "ctaid", Type::u32, true},
    {Special::nctaid, "nctaid", Type::u32, true},
    {Special::smid, "smid"},
    {Special::nsmid, "nsmid"},
    {Special::gridid, "gridid", Type::u64},
    {Special::clusterid, "clusterid", Type::u32, true},
    {Special::nclusterid, "nclusterid", Type::u32, true},
    {Special::cluster_ctaid, "cluster_ctaid", Type::u32, true},
    {Special::cluster_nctaid, "cluster_nctaid", Type::u32, true},
    {Special::cluster_ctarank, "cluster_ctarank"},
    {Special::cluster_nctarank, "cluster_nctarank"},
    {Special::is_explicit_cluster, "is_explicit_cluster", Type::pred},
    {Special::lanemask_eq, "lanemask_eq"},
    {Special::lanemask_le, "lanemask_le"},
    {Special::lanemask_lt, "lanemask_lt"},
    {Special::lanemask_ge, "lanemask_ge"},
    {Special::lanemask_gt, "lanemask_gt"},
    {Special::clock, "clock"},
    {Special::clock_hi, "clock_hi"},
    {Special::clock64, "clock64", Type::u64},
    {Special::globaltimer, "globaltimer", Type::u64},
    {Special::globaltimer_lo, "globaltimer_lo"},
    {Special::globaltimer_hi, "globaltimer_hi"},
    {Special::total_smem_size, "total_smem_size"},
    {Special::dynamic_smem_size, "dynamic_smem_size"},
    {Special::aggr_smem_size, "aggr_smem_size"},
    {Special::current_graph_exec, "current_graph_exec", Type::u64},
    {Special::envreg, "envreg"},
    {Special::pm, "pm"},
    {Special::reserved_smem_offset_begin, "reserved_smem_offset_begin"},
    {Special::reserved_smem_offset_end, "reserved_smem_offset_end"},
    {Special::reserved_smem_offset_cap, "reserved_smem_offset_cap"},
    {Special::reserved_smem_offset_0, "reserved_smem_offset_0"},
    {Special::reserved_smem_offset_1, "reserved_smem_offset_1"},
    {Special::pm_64, "pm_64", Type::u64},
};

const Row& row(Special s) { return rows[static_cast<size_t>(s)]; }

std::optional<SpecialName> numbered(std::string_view s, std::string_view prefix, Special special, int count) {
  if (!s.starts_with(prefix)) return std::nullopt;
  int index = 0;
  const char* begin = s.data() + prefix.size();
  const auto [end, failed] = std::from_chars(begin, s.data() + s.size(), index);
  if (failed != std::errc{} || end != s.data() + s.size() || index < 0 || index >= count) return std::nullopt;
  return SpecialName{special, index};
}

}  // namespace

std::optional<SpecialName> special_named(std::string_view s) {
  for (const Row& r : rows) {
    const bool takes_index =
        r.special == Special::envreg || r.special == Special::pm || r.special == Special::pm_64;
    if (r.name == s && !takes_index) return SpecialName{r.special};
  }
  if (const auto e = numbered(s, "envreg", Special::envreg, 32)) return e;
  if (s.ends_with("_64")) return numbered(s.substr(0, s.size() - 3), "pm", Special::pm_64, 8);
  return numbered(s, "pm", Special::pm, 8);
}

std::string_view name(Special s) { return row(s).name; }
bool is_vector(Special s) { return row(s).vector; }
Type type_of(Special s) { return row(s).type; }

}  // namespace palladion::isa
