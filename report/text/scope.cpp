#include "report/text/scope.h"

#include <fmt/format.h>

#include <string>

#include "report/text/finding_text.h"

namespace palladion::report {
namespace {

using sim::check::DataDependence;
using sim::check::DataScope;

std::string named(const sim::Site& site, std::string_view ptx_name) {
  return fmt::format("`{}` ({})", site.instruction, place_text(site, ptx_name));
}

std::string_view decided(DataDependence::Kind kind) {
  using Kind = DataDependence::Kind;
  switch (kind) {
    case Kind::branch:
      return "the way that it takes at";
    case Kind::predicate:
      return "the predicate of";
    case Kind::address:
      return "the address of";
    case Kind::count:
      return "a count or size of";
    case Kind::value:
      return "that several threads store one value at one place by";
  }
  return {};
}

}  // namespace

std::string_view scope_name(const DataScope& scope) {
  if (!scope.dependences.empty()) return "these data";
  return scope.in_bounds.empty() ? "all data of this shape" : "all data of this shape that stay in bounds";
}

std::vector<std::string> scope_reasons(const DataScope& scope, std::string_view ptx_name) {
  std::vector<std::string> out;
  for (const DataDependence& d : scope.dependences)
    out.push_back(fmt::format("{} {} depends on what {} loads", decided(d.kind), named(d.use, ptx_name),
                              named(d.load, ptx_name)));
  for (const DataDependence& d : scope.in_bounds)
    out.push_back(
        fmt::format("{} reads inside of an array that the kernel does not write, at a place that "
                    "depends on what {} loads",
                    named(d.use, ptx_name), named(d.load, ptx_name)));
  return out;
}

std::string scope_text(const DataScope& scope, std::string_view ptx_name) {
  constexpr size_t shown = 2;
  std::string text(scope_name(scope));
  const std::vector<std::string> reasons = scope_reasons(scope, ptx_name);
  for (size_t i = 0; i < reasons.size() && i < shown; ++i) text += (i == 0 ? ": " : "; ") + reasons[i];
  if (reasons.size() > shown) text += fmt::format("; {} more", reasons.size() - shown);
  return text;
}

}  // namespace palladion::report
