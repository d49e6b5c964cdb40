// A pack: labs for learners' machines, without their solutions. TEACHERS.md states how it is used.
#pragma once

#include <map>
#include <span>
#include <string>

#include "labs/lab.h"

namespace palladion::labs {

// The labs in their order, with minutes and sums a group: a page in Markdown.
std::string syllabus(std::span<const Lab> labs);

// The files of a lab's folder by name. The kernel is the starter's variant alone, and the rules have no
// explanation of the solution; hints, replies and the accepted answers stay, since the judge needs them.
std::map<std::string, std::string> without_solution(const Lab& lab);

}  // namespace palladion::labs
