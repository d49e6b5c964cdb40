// How far a learner is, kept in $XDG_DATA_HOME/palladion/labs.json, else ~/.local/share/palladion/labs.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "isa/host/outcome.h"
#include "labs/lab.h"

namespace palladion::labs {

struct LabProgress {
  std::string folder;  // where it was started
  uint64_t checks = 0, hints = 0;
  bool solution_seen = false;
  bool passed_alone = false;  // before the solution was seen
  std::string passed;         // "2026-11-25", the first time; empty: not yet

  std::string state() const;  // "passed", "started"; empty: not begun
};

class ProgressFile {
 public:
  // Empty when there is no file yet. The error: it cannot be read, or is malformed.
  static host::Outcome<ProgressFile> read();
  host::Outcome<void> write() const;

  LabProgress& of(const Lab& lab) { return labs_[lab.name]; }
  LabProgress of(const Lab& lab) const;
  void forget(const Lab& lab) { labs_.erase(lab.name); }
  // The first lab behind this one that is not passed, else the first of all; null: all are passed.
  const Lab* next(const Lab& behind) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, LabProgress> labs_;
};

}  // namespace palladion::labs
