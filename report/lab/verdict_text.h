// What a learner and a teacher get to read of a judged submission.
#pragma once

#include <string>

#include "labs/engine/verdict.h"
#include "report/json/document.h"

namespace palladion::report {

struct LabView {
  std::string folder;  // paths below it are printed relative to it
  bool color = false;
};
std::string verdict_text(const labs::LabVerdict& verdict, const LabView& view);
json::object verdict_json(const labs::LabVerdict& verdict);

// The reply's text. {line} stands for the line of the file in the finding that is shown, {measured} and
// {limit} for the first measure that is out of its range and the end of that range.
std::string reply_text(const labs::LabVerdict& verdict);

}  // namespace palladion::report
