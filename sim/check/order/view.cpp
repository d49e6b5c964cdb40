#include "sim/check/order/view.h"

#include <algorithm>
#include <iterator>

#include "sim/check/order/sc_order.h"

namespace palladion::sim::check {
namespace {

bool raise_to(Times& into, const Times& by) {
  bool news = false;
  for (size_t r = 0; r < visibility_count; ++r) {
    news |= by[r] > into[r];
    into[r] = std::max(into[r], by[r]);
  }
  return news;
}

Times without_strict(Times t) {
  t[static_cast<size_t>(Visibility::strict)] = 0;
  return t;
}

}  // namespace

const View::Row* View::row_of(uint64_t k) const {
  const auto row = std::ranges::lower_bound(rows_, k, {}, &Row::key);
  return row != rows_.end() && row->key == k ? &*row : nullptr;
}

uint32_t View::row_time(uint64_t k, Visibility visibility) const {
  const Row* const row = row_of(k);
  return row != nullptr ? row->times[static_cast<size_t>(visibility)] : 0;
}

bool View::row_knows(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane,
                     uint32_t when) const {
  return row_time(key(cluster, warp, lane), visibility) >= when ||
         row_time(key(cluster, warp, all_lanes), visibility) >= when;
}

uint32_t View::known(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane) const {
  return std::max({cluster == cluster_ ? time(visibility, warp) : 0,
                   row_time(key(cluster, warp, lane), visibility),
                   row_time(key(cluster, warp, all_lanes), visibility)});
}

bool View::any_row_knows(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, uint32_t lanes,
                         uint32_t when) const {
  const auto r = static_cast<size_t>(visibility);
  const uint64_t first = key(cluster, warp, Lane(0));
  for (auto row = std::ranges::lower_bound(rows_, first, {}, &Row::key);
       row != rows_.end() && row->key >> 6 == first >> 6; ++row) {
    const Lane lane(row->key & 63);
    if (row->times[r] >= when && (lane == all_lanes || (lanes >> lane & 1) != 0)) return true;
  }
  return false;
}

void View::raise(uint64_t k, const Times& times) {
  const auto row = std::ranges::lower_bound(rows_, k, {}, &Row::key);
  if (row != rows_.end() && row->key == k)
    raise_to(row->times, times);
  else
    rows_.insert(row, {k, times});
}

void View::learn(WarpOfCluster warp, const Times& times) {
  for (size_t r = 0; r < visibilities(); ++r) {
    uint32_t& t = times_[r * warps_ + warp];
    t = std::max(t, times[r]);
  }
  if (!rows_.empty()) prune();
}

void View::learn(WarpOfCluster warp, Lane lane, const Times& times) {
  raise(key(cluster_, warp, lane), times);
}

void View::absorb(const Row& row) {
  const auto cluster = static_cast<uint32_t>(row.key >> 32);
  const auto low = static_cast<uint32_t>(row.key);
  if (cluster == cluster_ && (low & 63) == all_lanes)
    learn(WarpOfCluster(low >> 6), row.times);
  else
    raise(row.key, row.times);
}

// Many rows are merged in one pass.
void View::absorb(const std::vector<Row>& rows, bool strict) {
  const auto taken = [&](const Row& row) { return strict ? row : Row{row.key, without_strict(row.times)}; };
  if (rows.size() * 8 < rows_.size()) {
    for (const Row& row : rows) absorb(taken(row));
    return;
  }
  std::vector<Row> out;
  out.reserve(rows_.size() + rows.size());
  auto mine = rows_.begin();
  for (const Row& row : rows) {
    while (mine != rows_.end() && mine->key < row.key) out.push_back(*mine++);
    out.push_back(taken(row));
    if (mine != rows_.end() && mine->key == row.key) raise_to(out.back().times, (mine++)->times);
  }
  out.insert(out.end(), mine, rows_.end());
  rows_.clear();
  std::swap(rows_, out);
  // What another cluster's view said of whole warps of this one.
  const auto [first, last] = own_rows();
  std::vector<Row> whole;
  std::copy_if(first, last, std::back_inserter(whole),
               [](const Row& row) { return (row.key & 63) == all_lanes; });
  for (const Row& row : whole) learn(WarpOfCluster(static_cast<uint32_t>(row.key) >> 6), row.times);
}

std::pair<std::vector<View::Row>::iterator, std::vector<View::Row>::iterator> View::own_rows() {
  const auto from = [&](uint64_t cluster) {
    return std::ranges::lower_bound(rows_, cluster << 32, {}, &Row::key);
  };
  return {from(cluster_), from(uint64_t{cluster_} + 1)};
}

View::Row View::whole_warp(WarpOfCluster warp) const {
  Row row{key(cluster_, warp, all_lanes), {}};
  for (size_t r = 0; r < visibilities(); ++r) row.times[r] = times_[r * warps_ + warp];
  return row;
}

void View::join(const View& other, bool strict) {
  if (other.cluster_ == cluster_) {
    for_each_time(strict, [&](size_t i) { times_[i] = std::max(times_[i], other.times_[i]); });
  } else {
    for (uint32_t w = 0; w < other.warps_; ++w) {
      Row row = other.whole_warp(WarpOfCluster(w));
      if (!strict) row.times = without_strict(row.times);
      if (row.times != Times{}) raise(row.key, row.times);
    }
  }
  if (would_learn(other.rows_, strict)) absorb(other.rows_, strict);
  if (!rows_.empty()) prune();
  if (other.sc_ != nullptr && other.sc_ != sc_) {
    if (sc_ == nullptr && strict && other.cluster_ == cluster_)
      sc_ = other.sc_;
    else
      learn(*other.sc_, strict);
  }
}

void View::learn(const ScOrder& sc, bool strict) {
  if (!would_learn(sc, strict)) return;
  auto both = sc_ == nullptr ? std::make_shared<ScOrder>() : std::make_shared<ScOrder>(*sc_);
  both->join(sc, *this, strict);
  sc_ = std::move(both);
}

bool View::would_learn(const ScOrder& sc, bool strict) const {
  return sc_ == nullptr ? ScOrder().lacks(sc, cluster_, strict) : sc_->lacks(sc, cluster_, strict);
}

bool operator==(const View& a, const View& b) {
  if (a.cluster_ != b.cluster_ || a.times_ != b.times_ || a.rows_ != b.rows_) return false;
  if (a.sc_ == b.sc_) return true;
  return a.sc_ != nullptr && b.sc_ != nullptr && !a.would_learn(*b.sc_) && !b.would_learn(*a.sc_);
}

// Rows that add nothing to the entry of the whole warp.
void View::prune() {
  const auto [first, last] = own_rows();
  const auto kept = std::remove_if(first, last, [&](const Row& row) {
    const uint32_t warp = static_cast<uint32_t>(row.key) >> 6;
    for (size_t r = 0; r < visibilities(); ++r)
      if (row.times[r] > times_[r * warps_ + warp]) return false;
    return true;
  });
  rows_.erase(kept, last);
}

bool View::fence(Visibility from, Visibility to) {
  bool news = false;
  for (uint32_t w = 0; w < warps_; ++w) {
    const uint32_t known = times_[at(from) + w];
    uint32_t& t = times_[at(to) + w];
    news |= known > t;
    t = std::max(t, known);
  }
  for (Row& row : rows_) {
    const uint32_t known = row.times[static_cast<size_t>(from)];
    uint32_t& t = row.times[static_cast<size_t>(to)];
    news |= known > t;
    t = std::max(t, known);
  }
  return news;
}

bool View::lacks(const Row& row, const Row* mine, bool strict) const {
  const uint32_t warp = static_cast<uint32_t>(row.key) >> 6;
  const bool own = row.key >> 32 == uint64_t{cluster_};
  for (size_t r = 0; r < visibility_count; ++r) {
    if (!strict && r == static_cast<size_t>(Visibility::strict)) continue;
    uint32_t known = mine == nullptr ? 0 : mine->times[r];
    if (own) known = std::max(known, time(static_cast<Visibility>(r), WarpOfCluster(warp)));
    if (row.times[r] > known) return true;
  }
  return false;
}

bool View::would_learn(const std::vector<Row>& rows, bool strict) const {
  auto mine = rows_.begin();
  return std::ranges::any_of(rows, [&](const Row& row) {  // ascending keys
    while (mine != rows_.end() && mine->key < row.key) ++mine;
    return lacks(row, mine != rows_.end() && mine->key == row.key ? &*mine : nullptr, strict);
  });
}

bool View::would_learn(const View& other, bool strict) const {
  if (other.cluster_ == cluster_) {
    bool news = false;
    for_each_time(strict, [&](size_t i) { news |= other.times_[i] > times_[i]; });
    if (news) return true;
  } else {
    for (uint32_t w = 0; w < other.warps_; ++w) {
      const Row row = other.whole_warp(WarpOfCluster(w));
      if (lacks(row, row_of(row.key), strict)) return true;
    }
  }
  if (would_learn(other.rows_, strict)) return true;
  return other.sc_ != nullptr && other.sc_ != sc_ && would_learn(*other.sc_, strict);
}

View View::only(Visibility visibility) const {
  View out = *this;
  out.sc_ = nullptr;
  for (size_t i = 0; i < out.times_.size(); ++i)
    if (i / warps_ != static_cast<size_t>(visibility)) out.times_[i] = 0;
  for (Row& row : out.rows_)
    for (size_t r = 0; r < visibility_count; ++r)
      if (r != static_cast<size_t>(visibility)) row.times[r] = 0;
  return out;
}

void join(ViewRef& into, const View& what) {
  if (!into->would_learn(what, true)) return;
  if (into.use_count() == 1) return const_cast<View&>(*into).join(what);  // no other one has it
  auto joined = std::make_shared<View>(*into);
  joined->join(what);
  into = std::move(joined);
}

}  // namespace palladion::sim::check
