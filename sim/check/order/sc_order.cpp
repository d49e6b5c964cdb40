#include "sim/check/order/sc_order.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::check {
namespace {

constexpr size_t most_seen = 16, most_passed = 64;

// Of another cluster no thread is in a scope that is less than .gpu.
bool reaches(const FenceInstance& f, ClusterOfGrid cluster) {
  return f.cluster == cluster || f.scope >= isa::Scope::gpu;
}

FenceRef whole(const FenceInstance& f, ViewRef released, bool strict) {
  FenceInstance out;
  out.scope = f.scope;
  out.cluster = f.cluster;
  out.cta = f.cta;
  out.strict = strict;
  out.released = std::move(released);
  return std::make_shared<FenceInstance>(std::move(out));
}

// Its lanes that `view` knows to have executed it, and the lane itself.
uint32_t known_lanes(const FenceInstance& f, const View& view, Visibility visibility, uint32_t itself) {
  if (f.cluster == view.cluster() && view.time(visibility, f.warp) >= f.time) return f.lanes;
  uint32_t known = f.lanes & itself;
  for (uint32_t m = f.lanes & ~itself; m != 0; m &= m - 1)
    if (view.knows(visibility, f.cluster, f.warp, lowest_lane(m), f.time)) known |= m & (0 - m);
  return known;
}

}  // namespace

ViewRef FenceInstance::of(uint32_t some) const {
  if (some == lanes) return released;
  auto out = std::make_shared<View>(*before);
  for (uint32_t m = some; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    out->learn(warp, lane, own[lane]);
  }
  return out;
}

void unite(Fences& fences) {
  if (fences.size() <= most_seen) return;
  Fences out;
  for (const FenceRef& f : fences) {
    const bool wide = f->scope >= isa::Scope::gpu;
    const auto alike = std::ranges::find_if(out, [&](const FenceRef& o) {
      if (o->strict != f->strict || wide != (o->scope >= isa::Scope::gpu)) return false;
      return wide || (o->scope == f->scope && o->cluster == f->cluster && o->cta == f->cta);
    });
    if (alike == out.end()) {
      out.push_back(f);
      continue;
    }
    auto both = std::make_shared<View>(*(*alike)->released);
    both->join(*f->released);
    FenceInstance one = **alike;
    if (one.cluster != f->cluster || one.cta != f->cta) one.cluster = FenceInstance::several;
    one.scope = std::min(one.scope, f->scope);
    one.released = std::move(both);
    *alike = std::make_shared<FenceInstance>(std::move(one));
  }
  fences = std::move(out);
}

// Whatever synchronises with the earlier one, and comes behind the later one, does with this one.
bool ScOrder::covers(const FenceInstance& later, const FenceInstance& earlier) {
  if (later.scope >= isa::Scope::gpu) return true;
  return later.scope >= earlier.scope && later.cluster == earlier.cluster &&
         (later.scope >= isa::Scope::cluster || later.cta == earlier.cta);
}

// The same lanes' later instance includes it.
bool ScOrder::has_passed(const FenceInstance& f) const {
  return std::ranges::any_of(passed_, [&](const FenceRef& o) {
    if (o->released == f.released) return true;
    return f.lanes != 0 && o->cluster == f.cluster && o->warp == f.warp && (f.lanes & ~o->lanes) == 0 &&
           o->time >= f.time && o->scope >= f.scope;
  });
}

bool ScOrder::has_seen(const FenceInstance& f, bool strict) const {
  return std::ranges::any_of(seen_, [&](const FenceRef& o) {
    return o->released == f.released && (o->strict || !(f.strict && strict));
  });
}

bool ScOrder::lacks(const ScOrder& other, ClusterOfGrid cluster, bool strict) const {
  const auto passed = [&](const FenceRef& f) { return reaches(*f, cluster) && !has_passed(*f); };
  const auto seen = [&](const FenceRef& f) { return reaches(*f, cluster) && !has_seen(*f, strict); };
  return std::ranges::any_of(other.passed_, passed) || std::ranges::any_of(other.seen_, seen);
}

void ScOrder::join(const ScOrder& other, const View& here, bool strict) {
  for (const FenceRef& f : other.passed_) {
    if (!reaches(*f, here.cluster()) || has_passed(*f)) continue;
    std::erase_if(passed_, [&](const FenceRef& o) {
      return o->lanes != 0 && o->cluster == f->cluster && o->warp == f->warp && (o->lanes & ~f->lanes) == 0 &&
             o->time <= f->time && o->scope <= f->scope;
    });
    passed_.push_back(f);
  }
  for (const FenceRef& f : other.seen_)
    if (reaches(*f, here.cluster()) && !has_seen(*f, strict))
      seen_.push_back(strict || !f->strict ? f : whole(*f, f->released, false));
  unite(seen_);
  if (passed_.size() <= most_passed) return;
  const auto near =
      std::ranges::partition(passed_, [&](const FenceRef& f) { return f->cluster == here.cluster(); });
  Fences far;
  for (const FenceRef& f : near)
    if (const uint32_t known = known_lanes(*f, here, Visibility::generic, 0); f->lanes == 0 || known != 0)
      far.push_back(
          f->lanes == 0 ? f : whole(*f, f->of(known), known_lanes(*f, here, Visibility::strict, 0) == known));
  passed_.erase(near.begin(), near.end());
  unite(far);
  passed_.insert(passed_.end(), far.begin(), far.end());
}

Fences fences_before(const View& view, WarpOfCluster warp, Lane lane) {
  Fences out;
  if (view.sc() == nullptr) return out;
  for (const FenceRef& f : view.sc()->passed()) {
    const uint32_t itself = f->cluster == view.cluster() && f->warp == warp ? 1U << lane : 0;
    const uint32_t known = known_lanes(*f, view, Visibility::generic, itself);
    if (f->lanes == 0)
      out.push_back(f);
    else if (known != 0)
      out.push_back(whole(*f, f->of(known), known_lanes(*f, view, Visibility::strict, itself) == known));
  }
  return out;
}

}  // namespace palladion::sim::check
