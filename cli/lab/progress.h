// How far a learner is, kept in $XDG_DATA_HOME/palladion/labs.json, else ~/.local/share/palladion/labs.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "isa/host/outcome.h"
#include "labs/lab.h"

namespace palladion::cli {

struct LabProgress {
  std::string folder;  // where it was started
  uint64_t checks = 0, hints = 0;
  bool solution_seen = false;
  bool passed_alone = false;  // before the solution was seen
  std::string passed;         // "2026-11-25", the first time; empty: not yet
};

class ProgressFile {
 public:
  // Empty when there is no file yet. The error: it cannot be read, or is malformed.
  static Outcome<ProgressFile> read();
  Outcome<void> write() const;

  LabProgress& of(const labs::Lab& lab) { return labs_[lab.name]; }
  LabProgress of(const labs::Lab& lab) const;
  void forget(const labs::Lab& lab) { labs_.erase(lab.name); }

 private:
  std::filesystem::path path_;
  std::map<std::string, LabProgress> labs_;
};

}  // namespace palladion::cli
