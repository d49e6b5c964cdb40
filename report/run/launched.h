// What was launched, as every report names it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "verify/launch/job.h"

namespace palladion::report {

struct Launched {
  // Where the outputs come from that those of the machine are compared with.
  enum class Reference : uint8_t {
    unknown,   // nothing says what is right
    missing,   // the kernel could have one
    function,  // of the kernel
    device,    // the launch was recorded there
  };

  std::string name;   // "matmul_ws", "saxpy.ptx"
  std::string title;  // a line: the name with sizes and settings, or what it is
  const isa::ArchSpec* arch = nullptr;
  const Job* job = nullptr;           // grid, arrays, PTX
  std::string ptx_name;               // of the text that PTX lines refer to; empty: none
  std::vector<std::string> contents;  // of each buffer of the job: "randn(7)", "a.npy", ""
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::string> settings;
  std::string settings_from;  // which table gave those that nobody named; empty: none did
  Reference reference = Reference::unknown;
  double record_seconds = 0, input_seconds = 0;  // of wall time
};

}  // namespace palladion::report
