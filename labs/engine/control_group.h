// A control group of Linux (cgroup, versions 1 and 2) for all processes of a submission together: what a
// compiler starts shares one limit of memory and one of their number.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "labs/engine/sandbox.h"

namespace palladion::labs {

// Where groups with a controller, "memory" or "pids", can be made.
struct ControllerPlace {
  std::string controller;
  int version = 0;  // of control groups
  std::filesystem::path folder;

  bool operator==(const ControllerPlace&) const = default;
};
// Of a process, from the text of its /proc/PID/cgroup and /proc/PID/mountinfo. Version 1: below its own
// group. Version 2: below its own one where that passes the controller on, or else below the parent, since a
// group of version 2 that has processes passes no controller on.
std::vector<ControllerPlace> controller_places(std::string_view cgroup, std::string_view mountinfo);

class ControlGroup {
 public:
  // Makes a group with the limits of memory (bytes that are resident) and processes (threads count); none
  // where `limits.processes` is 0, or where this host lets the user make none. Needs no namespace of its own,
  // and removes what earlier processes, killed, have left.
  explicit ControlGroup(const Limits& limits);
  ~ControlGroup() { remove(); }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  // In a process that was forked since: it enters, and so does all that it will start. The controllers that
  // hold it.
  Confined enter();
  // All processes of it have ended.
  void remove();

 private:
  struct Group {
    int parent = -1, processes = -1;  // files: the folder above, cgroup.procs
    std::string controller, name;
  };
  void make(const ControllerPlace& place, const Limits& limits);
  void forget();

  std::vector<Group> groups_;  // of version 2 one folder, twice
};

}  // namespace palladion::labs
