// JSON documents are values of Boost.JSON. Its objects keep the order of insertion, so equal runs give equal
// bytes.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>

namespace palladion::report {

namespace json = boost::json;

// Of the program; every document names it.
inline constexpr const char* version = "0.1.0";

// Indented by two spaces, with a newline at the end. A double is the shortest decimal that reads back equal;
// JSON has no NaN or infinity: they become the strings "nan", "inf" and "-inf".
std::string json_text(const json::value& value);
// The same without line breaks.
std::string json_line(const json::value& value);

// What `make` makes of each element of `range`.
template <class Range, class Make = std::identity>
json::array array_of(const Range& range, Make make = {}) {
  json::array out;
  for (const auto& element : range) out.emplace_back(std::invoke(make, element));
  return out;
}

// Pairs of names and values as an object.
template <class Pairs>
json::object object_of(const Pairs& pairs) {
  json::object out;
  for (const auto& [name, value] : pairs) out.emplace(name, value);
  return out;
}

inline void append(json::object& to, const json::object& members) {
  to.insert(members.begin(), members.end());
}

}  // namespace palladion::report
