// Requests and answers as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/module.h"
#include "isa/host/outcome.h"
#include "report/json/document.h"

namespace palladion::python {

namespace json = report::json;
using host::Outcome;

// The members of a request. A member of another type is the package's mistake, not the user's: it throws.
class Request {
 public:
  explicit Request(std::string_view text);
  explicit Request(json::object members) : members_(std::move(members)) {}

  bool has(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  int64_t number(std::string_view name, int64_t otherwise = 0) const;
  double real(std::string_view name, double otherwise = 0) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::optional<isa::Dim3> dims(std::string_view name) const;
  std::vector<int64_t> numbers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<Request> objects(std::string_view name) const;

 private:
  const json::value* find(std::string_view name) const;
  json::object members_;
};

// {"error": {"kind": "mistake", "unsupported", "interrupted" or "internal", "code": "PLD1001" or "", "text"}}
std::string answer_of(const host::Failure& failure);
std::string internal_error(std::string_view text);

}  // namespace palladion::python
