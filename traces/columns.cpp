#include "traces/columns.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <iterator>

namespace palladion::traces {
namespace {

namespace json = boost::json;

// A JSON string of a text that may be no UTF-8 is the writer's matter: names are UTF-8 here.
std::string quoted(std::string_view text) {
  return json::serialize(json::value(json::string_view(text.data(), text.size())));
}

template <class T>
void element(std::string& into, T value) {
  fmt::format_to(std::back_inserter(into), "{},", value);
}

// Without the comma after the last element.
std::string_view list(const std::string& elements) {
  return std::string_view(elements).substr(0, elements.size() - (elements.empty() ? 0 : 1));
}

template <class Enum>
std::string names_up_to(Enum last) {
  std::string out;
  for (int i = 0; i <= static_cast<int>(last); ++i) element(out, quoted(name(static_cast<Enum>(i))));
  return out;
}

}  // namespace

size_t ColumnSink::text(std::string_view text) {
  const auto [at, is_new] = texts_.try_emplace(std::string(text), texts_.size());
  if (is_new) element(text_rows_, quoted(text));
  return at->second;
}

bool ColumnSink::add(const Track& t) {
  if (full_) return false;
  const auto parent = tracks_.find(t.parent);
  const auto parent_number = parent == tracks_.end() ? -1 : static_cast<int64_t>(parent->second);
  tracks_.emplace(t.id, tracks_.size());
  element(track_rows_,
          fmt::format("[{},{},{},{}]", parent_number, static_cast<int>(t.kind), t.order, quoted(t.name)));
  return true;
}

void ColumnSink::arrows(std::string& into, const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) {
    element(into, events_);
    element(into, arrows_.try_emplace(id, arrows_.size()).first->second);
  }
}

bool ColumnSink::add(const Event& e) {
  full_ = full_ || bytes() >= limit_;
  if (full_) return false;
  element(track_, tracks_.at(e.track));
  element(at_, e.from);
  element(length_, e.instant ? int64_t{-1} : static_cast<int64_t>(e.to - e.from));
  element(category_, static_cast<int>(e.category));
  element(name_, text(e.name));
  element(pc_, e.pc == Event::no_pc ? int64_t{-1} : int64_t{e.pc});
  int64_t line = -1;
  json::object more;
  for (const Arg& arg : e.args) {
    const auto* number = std::get_if<uint64_t>(&arg.value);
    const std::string_view word = number != nullptr ? "" : std::get<std::string_view>(arg.value);
    if (number != nullptr)
      more.emplace(arg.key, *number);
    else if (arg.key == "line")
      line = static_cast<int64_t>(text(word));
    else
      more.emplace(arg.key, json::string_view(word.data(), word.size()));
  }
  element(line_, line);
  if (!more.empty()) element(more_, fmt::format("[{},{}]", events_, json::serialize(more)));
  arrows(flows_, e.flows);
  arrows(ends_, e.ends);
  ++events_;
  return true;
}

void ColumnSink::finish(const std::string& note, uint64_t at) {
  note_ = note;
  cut_at_ = at;
}

uint64_t ColumnSink::bytes() const {
  uint64_t sum = 0;
  for (const std::string* column : {&track_rows_, &text_rows_, &track_, &at_, &length_, &category_, &name_,
                                    &pc_, &line_, &more_, &flows_, &ends_})
    sum += column->size();
  return sum;
}

std::string ColumnSink::json() const {
  std::string out =
      fmt::format("{{\"title\":{},\"unit\":{},\"sm_clock_mhz\":{},\"from\":{},\"note\":{},\"cut_at\":{}",
                  quoted(header_.title), quoted(name(header_.unit)), header_.sm_clock_mhz, header_.from,
                  quoted(note_), cut_at_);
  const auto add_list = [&](std::string_view key, const std::string& elements) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":[{}]", key, list(elements));
  };
  add_list("kinds", names_up_to(TrackKind::stage));
  add_list("categories", names_up_to(Category::scope));
  add_list("texts", text_rows_);
  add_list("tracks", track_rows_);
  add_list("track", track_);
  add_list("at", at_);
  add_list("length", length_);
  add_list("category", category_);
  add_list("name", name_);
  add_list("pc", pc_);
  add_list("line", line_);
  add_list("more", more_);
  add_list("flows", flows_);
  add_list("ends", ends_);
  return out + "}";
}

}  // namespace palladion::traces
