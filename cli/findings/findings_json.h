// Findings for other programs: as members of --json, and as SARIF 2.1.0.
#pragma once

#include <span>
#include <string>

#include "cli/findings/findings.h"
#include "cli/support/json.h"

namespace palladion::cli {

// Everything that the text says. Suppressed ones are there too, and say so.
json::array findings_json(std::span<const SeenFinding> findings);

// What a SARIF log tells of the run besides its findings.
struct SarifRun {
  std::string command_line;
  std::string ptx_name;       // of the file that PTX lines refer to
  std::string folder;         // paths below it are told relative to it
  bool suppressions = false;  // the user gave some, so that every result says whether it is suppressed
  int exit_code = 0;
};
std::string sarif_text(std::span<const SeenFinding> findings, const SarifRun& run);

// 16 hexadecimal digits that stay the same when lines move or a CTA more makes the mistake: of the code, the
// object's name and the instructions with their files.
std::string fingerprint(const sim::Finding& finding);

}  // namespace palladion::cli
