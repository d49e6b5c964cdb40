#pragma once
// Members of JSON documents, for comparisons in tests.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

namespace palladion {

namespace json = boost::json;

inline double number(const json::value& value) { return value.to_number<double>(); }
inline std::string text(const json::value& value) { return std::string(value.as_string()); }
inline std::string dump(const json::value& value) { return json::serialize(value); }

}  // namespace palladion
