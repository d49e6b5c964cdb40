// Findings for other programs: as members of --json, and as SARIF 2.1.0.
#pragma once

#include <span>
#include <string>

#include "report/json/document.h"
#include "report/text/findings.h"

namespace palladion::report {

// A name as people read it, and the symbol where that is another.
json::object named_json(const std::string& symbol);

// Everything that the text contains. Suppressed findings are included and marked.
json::array findings_json(std::span<const SeenFinding> findings);

// What a SARIF log contains of the run besides its findings.
struct SarifRun {
  std::string command_line;
  std::string ptx_name;       // of the file that PTX lines refer to; empty: they refer to none
  std::string subject;        // a file for findings whose sites have none; empty: they have no place
  std::string folder;         // paths below it are printed relative to it
  bool suppressions = false;  // the user gave some, so that every result states whether it is suppressed
  int exit_code = 0;          // 0: clean, 1: findings; above: the run failed
};
// Of what findings_json gives.
std::string sarif_text(const json::array& findings, const SarifRun& run);

// 16 hexadecimal digits that do not change when lines move or another CTA makes the mistake: of the code, the
// object's name and the instructions with their files.
std::string fingerprint(const sim::Finding& finding);

}  // namespace palladion::report
