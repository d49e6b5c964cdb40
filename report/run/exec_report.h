// The report of `palladion exec`: what the programs under it said while they ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/json/document.h"
#include "report/json/exec_record.h"
#include "report/text/findings.h"

namespace palladion::report {

class ExecReport {
 public:
  struct Asked {
    std::string arch, schedule, checks;
    bool judges = false;  // some checks
  };
  struct End {
    std::string manner;  // "with exit code 3"; empty: without an error
    int exit_code = 0;   // of exec
  };
  explicit ExecReport(Asked asked) : asked_(std::move(asked)) {}

  // The newest text of a key counts.
  void take(uint64_t sender, const ExecKey& key, std::string text);

  bool launched() const;  // a kernel
  uint64_t errors() const;
  Verdict verdict() const;
  // For people, with the table of launches of each program; empty when there was nothing to simulate.
  std::string text(const End& end, bool color) const;
  std::string json(const End& end) const;
  json::array findings() const;  // as findings_json gives them

 private:
  using Records = std::map<ExecKey, std::string>;
  // Of one kind, in the order of their numbers.
  static std::vector<json::value> values(const Records& records, ExecKey::Kind kind);
  std::vector<json::value> values(ExecKey::Kind kind) const;  // of all programs
  std::vector<json::value> members(ExecKey::Kind kind,
                                   std::string_view name) const;  // elements of these arrays
  std::string table(size_t program) const;
  Verdict::Scope scope() const;

  Asked asked_;
  std::vector<Records> programs_;  // in the order in which they came
  std::map<uint64_t, size_t> number_of_;
};

}  // namespace palladion::report
