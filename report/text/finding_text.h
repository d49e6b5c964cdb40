#pragma once
// A finding as text for people.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/findings.h"
#include "report/text/words.h"

namespace palladion::report {

// --- the parts of a finding -------------------------------------------------------------------------------
std::string message_text(const sim::Finding& finding);  // what is wrong, in one line
std::string object_text(
    const sim::Finding& finding);  // what it is about; empty: nothing else than the message
std::string kernel_text(const sim::Finding& finding);  // its name, where no line of the author's says it
std::string missing_text(const sim::Finding& finding);
std::string help_text(const sim::Finding& finding);
std::string rule_text(const sim::Finding& finding);  // the title of the section, as the catalogue has it
std::vector<std::string> notes_text(const sim::Finding& finding);
// Sections of the PTX manual as `PTX, "..."`; a rule that names its manual itself stays as it is.
std::string manual_text(std::string_view rule);

// --- the whole --------------------------------------------------------------------------------------------
// Settings of the text of findings.
struct FindingView {
  std::string ptx_name;  // of the file that PTX lines refer to
  std::string ptx;       // its text; may be empty
  std::string folder;    // paths below it are printed relative to it
  bool color = false;
  size_t limit = 20;     // findings shown in full
  size_t schedules = 1;  // that ran
  // The line of a file, empty when it is not there; read_source_line when not set.
  std::function<std::string(const std::string& file, uint32_t line)> source_line;
};

std::string read_source_line(const std::string& file, uint32_t line);
// Without spaces around it, tabs as spaces.
std::string trimmed(std::string text);
// A path below `folder` relative to it; any other unchanged.
std::string within(const std::string& folder, const std::string& path);

std::string finding_text(const SeenFinding& seen, const FindingView& view);
// A finding of a single run.
std::string finding_text(const sim::Finding& finding, const FindingView& view = {});
// Findings that count, as many as the limit, then the number omitted and a table by code.
std::string findings_text(std::span<const SeenFinding> findings, const FindingView& view);
// "none", "3, see above; 1 suppressed"
std::string findings_count_text(std::span<const SeenFinding> findings);

}  // namespace palladion::report
