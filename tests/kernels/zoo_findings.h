#pragma once
// What the zoo promises: the broken twin is found by its code at the marked lines, the good twin is silent.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/zoo/zoo.h"
#include "verify/explore/freedoms.h"

namespace palladion::kernels::test {

// Lines that carry `// @1`, `// @2`, ...: number of the mark -> lines. Files are read once.
inline std::set<int> marks_of(const std::string& line) {
  std::set<int> out;
  const size_t comment = line.find("// ");
  for (size_t at = line.find('@', comment); comment != std::string::npos && at != std::string::npos;
       at = line.find('@', at + 1))
    if (at + 1 < line.size() && line[at + 1] >= '1' && line[at + 1] <= '9') out.insert(line[at + 1] - '0');
  return out;
}

inline std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

inline const std::vector<std::string>& file_lines(const std::string& path) {
  static std::map<std::string, std::vector<std::string>> files;
  const auto [at, fresh] = files.try_emplace(path);
  if (fresh) {
    std::ifstream in(path);
    at->second = lines_of(in);
  }
  return at->second;
}

// The text of the line that a site names: of the author's file, else of the PTX.
inline std::string line_of(const sim::Site& s, const Job& job) {
  if (s.source.known()) {
    const auto& lines = file_lines(std::string(s.source.file));
    return s.source.line >= 1 && s.source.line <= lines.size() ? lines[s.source.line - 1] : "";
  }
  std::istringstream in(job.ptx);
  const auto lines = lines_of(in);
  return s.ptx_line >= 1 && s.ptx_line <= lines.size() ? lines[s.ptx_line - 1] : "";
}

inline verify::TrialSetup setup_of(const kernels::zoo::Specimen& specimen) {
  return {.job = specimen.job,
          .arch = kernels::zoo::chip_of(specimen),
          .run = {.threads = 1, .max_instructions = 20'000'000},
          .checks = {}};
}

inline SimOutcome run_checked(const kernels::zoo::Specimen& specimen,
                              const sim::check::Conditions& conditions) {
  return verify::try_under(setup_of(specimen), conditions).outcome;
}

// What `palladion check --explore` finds by what no schedule chooses.
inline std::vector<sim::Finding> explored_findings(const kernels::zoo::Specimen& specimen) {
  const sim::RunResult usual = run_checked(specimen, {}).result;
  std::vector<sim::Finding> found = usual.findings;
  verify::try_freedoms(setup_of(specimen), usual, 1, [&](const verify::Trial& trial) {
    const auto& more = trial.outcome.result.findings;
    found.insert(found.end(), more.begin(), more.end());
    return true;
  });
  return found;
}

// Marks that the finding names: of its sites, and of the other lines with the same mistake.
inline std::set<int> named_marks(const sim::Finding& f, const Job& job) {
  std::set<int> out;
  for (const sim::Site& s : f.sites) out.merge(marks_of(line_of(s, job)));
  for (const sim::SourcePlaces& also : f.also)
    for (const sim::SourcePlace& p : also) {
      sim::Site s;
      s.source = {p.file, p.line};
      s.ptx_line = p.ptx_line;
      out.merge(marks_of(line_of(s, job)));
    }
  // What follows from it.
  for (const sim::Statement& note : f.notes)
    for (const sim::PhraseValue& value : note.values)
      if (const auto* const s = std::get_if<sim::Site>(&value)) out.merge(marks_of(line_of(*s, job)));
  return out;
}

}  // namespace palladion::kernels::test
