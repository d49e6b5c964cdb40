#include "bench/device/micro_route.h"

#include <fmt/format.h>

namespace palladion::bench {
namespace {

// The window of rank `expression` in %to<j> or %from<j>.
std::string window(const char* list, int j, const std::string& rank) {
  return fmt::format("{}\nmapa.shared::cluster.u32 %{}{}, %s, %r0;\n", rank, list, j);
}

std::string same(const char* rank) { return fmt::format("mov.u32 %r0, {};", rank); }

// `shift` CTAs further, in a cluster of a power of two.
std::string further(int shift, int ctas) {
  return fmt::format("add.u32 %r0, %rank, {}; and.b32 %r0, %r0, {};", shift, ctas - 1);
}

double mean_of_senders(const Outcome& o, const Route& route, int warps) {
  double sum = 0;
  int senders = 0;
  for (int cta = 0; cta < route.ctas * route.clusters; ++cta) {
    if (!route.sends(cta % route.ctas)) continue;
    sum += longest({o.stamps.subspan(size_t(cta) * size_t(warps), size_t(warps)), {}});
    ++senders;
  }
  return sum / senders;
}

}  // namespace

bool Route::sends(int rank) const {
  if (way == Way::one_way || way == Way::from_one) return rank == 0;
  return way != Way::to_one || rank != 0;
}

const char* const route_registers =
    ".reg .b32 %rank, %r<2>, %to<16>, %from<16>; .reg .pred %sends, %receives;\n";

int Route::targets() const {
  return way == Way::everyone ? ctas : way == Way::all_to_all || way == Way::from_one ? ctas - 1 : 1;
}
int Route::sources() const {
  return way == Way::everyone ? ctas : way == Way::all_to_all || way == Way::to_one ? ctas - 1 : 1;
}

std::string Route::describe() const {
  const char* const names[] = {"one way",    "both ways", "self",   "ring",
                               "all to all", "everyone",  "to one", "from one"};
  std::string out = names[static_cast<size_t>(way)];
  if (ctas > 2) out += fmt::format(" ctas={}", ctas);
  if (clusters > 1) out += fmt::format(" clusters={}", clusters);
  return out;
}

std::string Route::prologue() const {
  std::string out = "mov.u32 %rank, %cluster_ctarank;\n";
  for (int j = 0; j < targets(); ++j) {
    const bool fixed = way == Way::to_one || way == Way::from_one;
    out += window("to", j,
                  way == Way::self ? same("%rank")
                  : fixed          ? same(way == Way::to_one ? "0" : std::to_string(j + 1).c_str())
                                   : further(way == Way::everyone ? j : j + 1, ctas));
  }
  for (int j = 0; j < sources(); ++j) {
    const bool fixed = way == Way::to_one || way == Way::from_one;
    out += window("from", j,
                  way == Way::self ? same("%rank")
                  : fixed          ? same(way == Way::from_one ? "0" : std::to_string(j + 1).c_str())
                                   : further(ctas - 1 - j, ctas));
  }
  const char* sends = "setp.lt.u32 %sends, %rank, 16;\n";  // all do
  const char* receives = "setp.lt.u32 %receives, %rank, 16;\n";
  if (way == Way::one_way || way == Way::from_one)
    sends = "setp.eq.u32 %sends, %rank, 0;\n", receives = "setp.ne.u32 %receives, %rank, 0;\n";
  if (way == Way::to_one)
    sends = "setp.ne.u32 %sends, %rank, 0;\n", receives = "setp.eq.u32 %receives, %rank, 0;\n";
  return out + sends + receives;
}

std::string only(const char* role) { return fmt::format("@!{} mov.u32 %n, 0;\n", role); }

Case cluster_case(std::string name, const std::string& parameters, KernelText kernel, const Route& route,
                  int warps) {
  kernel.clusters = true;
  kernel.chip_wide = route.clusters > 1;
  kernel.declarations += route_registers;
  kernel.prologue = route.prologue() + kernel.prologue;
  Case c;
  c.name = std::move(name);
  c.parameters = parameters + (parameters.empty() ? "" : " ") + route.describe();
  c.text = text(kernel);
  c.grid = {uint32_t(route.ctas * route.clusters), 1, 1};
  c.cluster = {uint32_t(route.ctas), 1, 1};
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 128 << 10;
  c.measure = [=](const Outcome& o) { return mean_of_senders(o, route, warps); };
  return c;
}

}  // namespace palladion::bench
