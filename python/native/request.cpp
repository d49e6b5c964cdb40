#include "python/native/request.h"

#include <boost/json/parse.hpp>

namespace palladion::python {

Request::Request(std::string_view text) : members_(boost::json::parse(text).as_object()) {}

const json::value* Request::find(std::string_view name) const {
  const json::value* const value = members_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Request::has(std::string_view name) const { return find(name) != nullptr; }

std::string Request::text(std::string_view name, std::string_view otherwise) const {
  const json::value* const value = find(name);
  return value == nullptr ? std::string(otherwise) : std::string(value->as_string());
}

int64_t Request::number(std::string_view name, int64_t otherwise) const {
  const json::value* const value = find(name);
  return value == nullptr ? otherwise : value->to_number<int64_t>();
}

double Request::real(std::string_view name, double otherwise) const {
  const json::value* const value = find(name);
  return value == nullptr ? otherwise : value->to_number<double>();
}

bool Request::flag(std::string_view name, bool otherwise) const {
  const json::value* const value = find(name);
  return value == nullptr ? otherwise : value->as_bool();
}

std::optional<isa::Dim3> Request::dims(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const std::vector<int64_t> sizes = numbers(name);
  return isa::Dim3{uint32_t(sizes.at(0)), uint32_t(sizes.at(1)), uint32_t(sizes.at(2))};
}

std::vector<int64_t> Request::numbers(std::string_view name) const {
  std::vector<int64_t> out;
  if (const json::value* const value = find(name))
    for (const json::value& each : value->as_array()) out.push_back(each.to_number<int64_t>());
  return out;
}

std::vector<std::string> Request::texts(std::string_view name) const {
  std::vector<std::string> out;
  if (const json::value* const value = find(name))
    for (const json::value& each : value->as_array()) out.emplace_back(each.as_string());
  return out;
}

std::vector<Request> Request::objects(std::string_view name) const {
  std::vector<Request> out;
  if (const json::value* const value = find(name))
    for (const json::value& each : value->as_array()) out.emplace_back(each.as_object());
  return out;
}

namespace {

std::string error(std::string_view kind, std::string_view code, std::string_view text) {
  return report::json_line(
      json::object{{"error", json::object{{"kind", kind}, {"code", code}, {"text", text}}}});
}

}  // namespace

std::string answer_of(const host::Failure& failure) {
  using Kind = host::Failure::Kind;
  const std::string_view kind = failure.kind == Kind::unsupported   ? "unsupported"
                                : failure.kind == Kind::interrupted ? "interrupted"
                                                                    : "mistake";
  return error(kind, failure.why == isa::CodeNumber{} ? std::string() : failure.why.name(), failure.text);
}

std::string internal_error(std::string_view text) { return error("internal", "", text); }

}  // namespace palladion::python
