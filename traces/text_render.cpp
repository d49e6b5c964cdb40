// The format of the text timeline.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "traces/letters.h"
#include "traces/text.h"

namespace palladion::traces {
namespace {

constexpr size_t columns = 68;
constexpr size_t label_width = 32;
constexpr size_t most_ctas = 4;      // places of CTAs that are drawn
constexpr size_t most_objects = 16;  // mbarriers, stages of each
constexpr size_t most_reasons = 4;   // of a role

std::string shortened(std::string text, size_t width) {
  std::erase(text, '`');
  if (text.size() > width) text = text.substr(0, width - 2) + "..";
  return text;
}

// "warpgroup 0, issues wgmma" -> "warpgroup 0, wgmma"
std::string without_verbs(std::string role) {
  constexpr std::string_view verb = "issues ";
  for (size_t at = role.find(verb); at != std::string::npos; at = role.find(verb))
    role.erase(at, verb.size());
  return role;
}

class Page {
 public:
  explicit Page(const TextTimeline& t) : t_(t) {
    const auto used = static_cast<size_t>((t.end + t.bin - 1) / t.bin);
    per_column_ = std::max<size_t>(1, (used + columns - 1) / columns);
    column_ = per_column_ * t.bin;
    drawn_ = static_cast<size_t>((t.end + column_ - 1) / column_);
  }

  std::string text(const std::string& note);

 private:
  std::vector<const TextRow*> children(uint64_t parent) const;
  const TextRow* busiest_warp(uint64_t role) const;
  char cell(const TextRow& row, size_t column);
  void draw(const TextRow& row, const std::string& label);
  void heading();
  void ruler();
  void process(const TextRow& row);
  void cta(const TextRow& sm, const TextRow& row);
  void role(const TextRow& row);
  void objects(const TextRow& group);
  void spent(const std::string& label, const TextRow& row);
  void legend();

  const TextTimeline& t_;
  size_t per_column_ = 1, drawn_ = 0, hidden_ = 0;
  uint64_t column_ = 1;
  bool phases_ = false, counts_ = false, shares_ = false;  // what the legend must explain
  std::map<std::pair<TrackKind, char>, std::string> legend_;
  std::map<std::string, char> scopes_;  // the author's, by name
  std::string out_, spent_, spent_heading_;
};

std::vector<const TextRow*> Page::children(uint64_t parent) const {
  std::vector<const TextRow*> out;
  for (const auto& [id, row] : t_.rows)
    if (row.track.parent == parent && row.track.id != 0) out.push_back(&row);
  std::ranges::sort(out, {}, [](const TextRow* r) { return std::pair(r->track.order, r->track.id); });
  return out;
}

// The warp that represents its warpgroup: the one that executed most.
const TextRow* Page::busiest_warp(uint64_t role) const {
  const TextRow* best = nullptr;
  uint64_t most = 0;
  for (const TextRow* warp : children(role)) {
    if (warp->track.kind != TrackKind::warp || warp->states.empty()) continue;
    const auto at = warp->spent.find("executes");
    const uint64_t executes = at == warp->spent.end() ? 0 : at->second;
    if (best == nullptr || executes > most) best = warp;
    most = std::max(most, executes);
  }
  return best;
}

char Page::cell(const TextRow& row, size_t column) {
  std::string_view best;
  uint64_t most = 0, all = 0;
  for (const auto& [state, times] : row.states) {
    uint64_t sum = 0;
    for (size_t i = column * per_column_; i < std::min((column + 1) * per_column_, TextTimeline::bins); ++i)
      sum += times[i];
    all += sum;
    if (sum > most) best = state;
    most = std::max(most, sum);
  }
  const double mean = static_cast<double>(all) / static_cast<double>(column_);
  const TrackKind kind = row.track.kind;
  if (kind == TrackKind::tma || kind == TrackKind::tensor_core) return shade(mean);
  if (kind == TrackKind::group) return digit(mean);
  if (mean < 0.1) return ' ';
  if (kind == TrackKind::role) {
    const auto letter = static_cast<char>('A' + scopes_.size() % 26);
    return scopes_.try_emplace(std::string(best), letter).first->second;
  }
  const Letter letter = letter_of(kind, best);
  phases_ |= kind == TrackKind::mbarrier;
  if (kind != TrackKind::mbarrier) legend_.emplace(std::pair(kind, letter.letter), letter.meaning);
  return letter.letter;
}

void Page::draw(const TextRow& row, const std::string& label) {
  if (row.states.empty()) return;
  counts_ |= row.track.kind == TrackKind::group;
  shares_ |= row.track.kind == TrackKind::tma || row.track.kind == TrackKind::tensor_core;
  std::string chart;
  for (size_t c = 0; c < drawn_; ++c) chart += cell(row, c);
  out_ += fmt::format("{:<{}}|{}|", shortened(label, label_width), label_width, chart);
  const bool unit = row.track.kind == TrackKind::tma || row.track.kind == TrackKind::tensor_core;
  const auto busy = row.spent.find("busy");
  if (unit && busy != row.spent.end())
    out_ += fmt::format(" {:.0f} %", 100.0 * static_cast<double>(busy->second) / static_cast<double>(t_.end));
  out_ += '\n';
}

void Page::heading() {
  out_ += t_.header.title + "\n";
  out_ += fmt::format("{} to {} {}", t_.header.from, t_.header.from + t_.end, name(t_.header.unit));
  if (t_.header.sm_clock_mhz > 0)
    out_ += fmt::format(" ({:.1f} us at {:.0f} MHz)", static_cast<double>(t_.end) / t_.header.sm_clock_mhz,
                        t_.header.sm_clock_mhz);
  out_ += fmt::format("; a column is {}\n", column_);
  if (t_.header.unit == TimeUnit::warp_instructions)
    out_ += "this schedule has no clock: widths count instructions of the cluster, not time\n";
}

void Page::ruler() {
  std::string marks(drawn_, ' ');
  for (size_t c = 0; c < drawn_; c += 12) {
    const std::string mark = fmt::format("'{}", t_.header.from + c * column_);
    if (c + mark.size() <= drawn_) marks.replace(c, mark.size(), mark);
  }
  out_ += fmt::format("{:<{}} {}\n", "", label_width, marks);
}

void Page::role(const TextRow& row) {
  draw(row, row.track.name);
  if (!row.spent.empty()) spent(row.track.name, row);
  const TextRow* warp = busiest_warp(row.track.id);
  if (warp == nullptr) return;
  const bool alone = children(row.track.id).size() == 1;
  draw(*warp, without_verbs(row.track.name));
  spent(fmt::format("{}{}", row.track.name, alone ? "" : " (" + warp->track.name + ")"), *warp);
}

void Page::objects(const TextRow& group) {
  draw(group, group.track.name);
  size_t n = 0;
  const auto all = children(group.track.id);
  for (const TextRow* row : all) {
    if (row->states.empty()) continue;
    if (++n <= most_objects) draw(*row, " " + row->track.name);
  }
  if (n > most_objects) out_ += fmt::format("{:<{}} and {} more\n", "", label_width, n - most_objects);
}

void Page::cta(const TextRow& sm, const TextRow& row) {
  out_ += fmt::format("\n{}, {}\n", sm.track.name,
                      row.lives.empty()       ? row.track.name
                      : row.lives.size() <= 3 ? fmt::format("{}", fmt::join(row.lives, ", "))
                                              : fmt::format("{} CTAs: {} to {}", row.lives.size(),
                                                            row.lives.front(), row.lives.back()));
  spent_heading_ = fmt::format("\n{}, where the time of each role went\n", sm.track.name);
  ruler();
  for (const TextRow* part : children(row.track.id)) {
    if (part->track.kind == TrackKind::role)
      role(*part);
    else if (part->track.kind == TrackKind::group)
      objects(*part);
    else
      draw(*part, part->track.name);
    if (part->track.kind == TrackKind::warp) spent(part->track.name, *part);
  }
}

void Page::spent(const std::string& label, const TextRow& row) {
  std::vector<std::pair<std::string, uint64_t>> all(row.spent.begin(), row.spent.end());
  std::ranges::stable_sort(all, std::greater(), [](const auto& p) { return p.second; });
  uint64_t sum = 0;
  for (const auto& [what, time] : all) sum += time;
  std::vector<std::string> parts;
  for (const auto& [what, time] : all)
    if (parts.size() < most_reasons && 100 * time >= sum)
      parts.push_back(
          fmt::format("{:.0f} % {}", 100.0 * static_cast<double>(time) / static_cast<double>(sum), what));
  spent_ += std::exchange(spent_heading_, {});
  spent_ += fmt::format("  {}\n    {}\n", shortened(label, 90), fmt::join(parts, ", "));
}

void Page::legend() {
  std::vector<std::string> parts;
  for (const auto& [kind_and_letter, meaning] : legend_)
    parts.push_back(fmt::format("{} {}", kind_and_letter.second, meaning));
  if (phases_) parts.emplace_back("0 1 parity of an mbarrier's phase");
  std::string line;
  out_ += '\n';
  if (counts_) parts.emplace_back("in flight: how many at once, on average");
  if (shares_) parts.emplace_back("units: . : + # busy up to 25, 50, 75, 100 % of a column");
  for (const auto& [scope, letter] : scopes_) parts.push_back(fmt::format("{} scope {}", letter, scope));
  for (const std::string& part : parts) {
    if (!line.empty() && line.size() + part.size() + 2 > columns + label_width) {
      out_ += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "; ") + part;
  }
  out_ += line + "\n";
}

void Page::process(const TextRow& row) {
  size_t drawn = 0;
  for (const TextRow* sm : children(row.track.id)) {
    if (sm->track.kind != TrackKind::sm) drawn = 0;  // the author's scopes, behind all SMs
    for (const TextRow* place : children(sm->track.id)) {
      if (++drawn <= most_ctas)
        cta(*sm, *place);
      else
        ++hidden_;
    }
  }
}

std::string Page::text(const std::string& note) {
  heading();
  if (!note.empty()) out_ += "incomplete: " + note + "\n";
  const auto processes = children(0);
  for (const TextRow* row : processes) {
    if (processes.size() > 1) out_ += "\n" + row->track.name + "\n";
    process(*row);
  }
  if (hidden_ != 0) out_ += fmt::format("\nand {} more CTAs that are not drawn\n", hidden_);
  if (drawn_ != 0) legend();
  return out_ + spent_;
}

}  // namespace

std::string render(const TextTimeline& timeline, const std::string& note) {
  return Page(timeline).text(note);
}

}  // namespace palladion::traces
