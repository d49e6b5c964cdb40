#include "cuda/bundle/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

namespace palladion::cuda::bundle {

bool Reader::has(std::string_view name) const { return object_.contains(name); }

const json::value& Reader::at(std::string_view name) const {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) fail(fmt::format("{} has no `{}`", where_, name));
  return *value;
}

const json::array& Reader::list(std::string_view name, size_t most) const {
  const json::value& value = at(name);
  if (!value.is_array()) wrong(name, "a list");
  if (value.as_array().size() > most)
    fail(fmt::format("{} names {} {}, at most {} are read", where_, value.as_array().size(), name, most));
  return value.as_array();
}

std::string Reader::text(std::string_view name) const {
  const json::value& value = at(name);
  if (!value.is_string()) wrong(name, "a string");
  return std::string(value.as_string());
}

bool Reader::flag(std::string_view name) const {
  const json::value& value = at(name);
  if (!value.is_bool()) wrong(name, "true or false");
  return value.as_bool();
}

bool is_number(const json::value& value, uint64_t& out) {
  if (value.is_string()) {
    const json::string& s = value.as_string();
    if (!s.starts_with("0x") || s.size() < 3) return false;
    const auto [end, error] = std::from_chars(s.data() + 2, s.data() + s.size(), out, 16);
    return error == std::errc() && end == s.data() + s.size();
  }
  if (value.is_uint64()) return out = value.as_uint64(), true;
  if (!value.is_int64() || value.as_int64() < 0) return false;
  return out = static_cast<uint64_t>(value.as_int64()), true;
}

uint64_t Reader::number(std::string_view name, uint64_t most) const {
  uint64_t out = 0;
  if (!is_number(at(name), out) || out > most) wrong(name, fmt::format("a number from 0 to {}", most));
  return out;
}

size_t Reader::position(const json::value& value, std::string_view name,
                        std::span<const std::string_view> names) const {
  if (value.is_string())
    for (size_t i = 0; i < names.size(); ++i)
      if (std::string_view(value.as_string()) == names[i]) return i;
  std::string known;
  for (const std::string_view n : names) known += (known.empty() ? "" : ", ") + std::string(n);
  wrong(name, "one of " + known);
}

void Reader::take_numbers(std::string_view name, uint32_t least, uint32_t most,
                          std::span<uint32_t> out) const {
  const json::value& value = at(name);
  bool ok = value.is_array() && value.as_array().size() == out.size();
  for (size_t i = 0; ok && i < out.size(); ++i) {
    const json::value& v = value.as_array()[i];
    ok = v.is_int64() && v.as_int64() >= least && v.as_int64() <= most;
    if (ok) out[i] = static_cast<uint32_t>(v.as_int64());
  }
  if (!ok) wrong(name, fmt::format("{} numbers from {} to {}", out.size(), least, most));
}

void Reader::take_positions(std::string_view name, std::span<const std::string_view> names,
                            std::span<size_t> out) const {
  const json::array& values = list(name, out.size());
  if (values.size() != out.size()) wrong(name, fmt::format("{} words", out.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = position(values[i], name, names);
}

void Reader::wrong(std::string_view name, std::string_view wanted) const {
  fail(fmt::format("{}: `{}` is not {}", where_, name, wanted));
}

const json::object& object_of(const json::value& value, std::string_view where) {
  if (!value.is_object()) fail(fmt::format("{} is no object", where));
  return value.as_object();
}

// A name within the folder: no separators, no way out.
std::string file_name(std::string name, std::string_view where) {
  const bool plain =
      !name.empty() && name.size() <= 255 && name[0] != '.' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
      });
  if (!plain) fail(fmt::format("{}: `{}` is no name of a file in the bundle", where, name));
  return name;
}

Contents contents_of(const json::value& value, const std::string& where, bool after) {
  Contents c;
  if (value.is_null()) return c;
  if (value.is_string()) {
    if (!after || value.as_string() != "same") fail(fmt::format("{}: unknown contents", where));
    c.kind = Contents::Kind::same;
    return c;
  }
  const Reader reader(object_of(value, where), where);
  if (reader.has("file")) {
    c.kind = Contents::Kind::file;
    c.file = file_name(reader.text("file"), where);
    c.checksum = reader.number("checksum");
    if (reader.has("zstd")) c.compressed = reader.number("zstd");
  } else if (reader.has("repeated")) {
    c.kind = Contents::Kind::repeated;
    c.value = reader.number("repeated");
  } else {
    c.kind = Contents::Kind::seed;
    c.value = reader.number("seed");
  }
  return c;
}

}  // namespace palladion::cuda::bundle
