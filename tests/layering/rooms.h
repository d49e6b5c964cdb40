// The folders of this repository and the order in which they stand.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

// Folder -> folders of ours that it may include. cli, tests and bench see all.
const std::map<std::string, std::set<std::string>> arrows = {
    {"isa", {}},
    {"frontend", {"isa"}},
    {"sim", {"isa"}},
    {"cuda/abi", {}},
    {"cuda/cubin", {}},
    {"cuda/fatbin", {"cuda/cubin"}},
    {"cuda/compilers", {"cuda/fatbin", "cuda/cubin", "cuda/abi", "isa"}},
    {"cuda/bundle", {"isa"}},
    {"cuda/native", {"isa", "cuda/abi"}},
    {"cuda/toolkit", {"cuda/native", "cuda/bundle", "cuda/cubin", "cuda/fatbin", "verify/arrays", "isa"}},
    {"cuda/capture", {"cuda/bundle", "cuda/fatbin", "cuda/cubin", "cuda/abi"}},
    {"cuda/programs", {"report/json", "isa"}},
    {"cuda/order", {}},
    {"cuda/driver",
     {"report/json", "report/text", "verify/verdict", "sim", "isa", "cuda/order", "cuda/fatbin", "cuda/cubin",
      "cuda/abi"}},
    {"traces", {"report/text", "sim", "isa"}},
    {"verify/arrays", {"frontend", "isa"}},
    {"verify/launch", {"verify/arrays", "frontend", "sim", "cuda/native", "isa"}},
    {"verify/verdict", {"sim", "isa"}},
    {"verify", {"verify/verdict", "verify/launch", "verify/arrays", "frontend", "sim", "cuda/native", "isa"}},
    {"verify/sweep", {"report/json", "verify/arrays", "verify", "sim", "isa"}},
    {"verify/codegen", {"verify/launch", "verify/arrays", "cuda/toolkit", "cuda/native", "sim", "isa"}},
    {"verify/bundles",
     {"verify", "verify/launch", "verify/arrays", "cuda/toolkit", "cuda/bundle", "cuda/cubin", "sim", "isa"}},
    {"kernels", {"verify/arrays", "frontend", "isa"}},
    {"kernels/files", {"kernels", "verify/arrays", "frontend", "isa"}},
    {"kernels/zoo", {"verify/launch", "verify/arrays", "frontend", "sim", "isa"}},
    {"labs",
     {"kernels/zoo", "kernels", "verify/launch", "verify/arrays", "frontend", "sim", "cuda/native", "traces",
      "isa"}},
    {"labs/engine",
     {"labs", "kernels/files", "kernels", "verify", "verify/verdict", "verify/launch", "verify/arrays",
      "report/run", "report/json", "report/text", "frontend", "sim", "isa"}},
    {"report/text", {"verify/verdict", "verify/arrays", "sim", "isa"}},
    {"report/json", {"report/text", "verify/verdict", "sim", "isa"}},
    {"report/run",
     {"report/json", "report/text", "verify", "verify/sweep", "verify/verdict", "verify/launch",
      "verify/arrays", "traces", "frontend", "sim", "cuda/native", "isa"}},
    {"report/explain",
     {"report/json", "report/text", "kernels", "kernels/zoo", "verify/launch", "verify/arrays", "frontend",
      "sim", "cuda/native", "cuda/capture", "isa"}},
    {"report/lab",
     {"labs/engine", "labs", "report/run", "report/json", "report/text", "verify/verdict", "verify/launch",
      "verify/arrays", "sim", "isa"}},
    {"report/html",
     {"report/run", "report/json", "report/text", "verify/verdict", "verify/launch", "verify/arrays",
      "traces", "frontend", "sim", "isa"}},
    {"python",
     {"report/html", "report/run", "report/json", "report/text", "verify", "verify/bundles", "verify/verdict",
      "verify/launch", "verify/arrays", "traces", "sim", "isa"}},
};

// The sub-folders of a folder from the lowest to the highest: each may include those on lines above its own.
const std::vector<std::vector<std::string>> levels = {
    // isa
    {"isa/core", "isa/num"},
    {"isa/host"},
    {"isa/arch"},
    {"isa/formats"},
    {"isa/ops"},
    {"isa/text"},
    {"isa/verify"},
    // frontend
    {"frontend/core"},
    {"frontend/refs"},
    {"frontend/arrays"},
    {"frontend/control", "frontend/sync"},
    {"frontend/memory"},
    {"frontend/matrix"},
    {"frontend/pipeline"},
    {"frontend/launch"},
    // sim
    {"sim/numerics", "sim/launch"},
    {"sim/launch/phrases"},
    {"sim/machine/state", "sim/check/catalogue"},
    {"sim/program"},
    {"sim/program/contraction"},
    {"sim/program/compile"},
    {"sim/machine/exec"},
    {"sim/machine/async"},
    {"sim/schedule"},
    {"sim/sass", "sim/check/order"},
    {"sim/check/core"},
    {"sim/clock/memory", "sim/check/protocol"},
    {"sim/clock/sm", "sim/check/memory", "sim/check/deadlock"},
    {"sim/clock/group", "sim/check/registers"},
    {"sim/clock/report"},
    {"sim/clock/grid", "sim/check/numerics", "sim/check/values"},
    {"sim", "sim/check"},
    {"sim/explore", "sim/mutate"},
    // verify, report/text, report/json
    {"verify/arrays", "verify/verdict"},
    {"report/text"},
    {"report/json"},
    {"verify/launch"},
    {"verify/schedules"},
    {"verify/explore", "verify/mutate"},
    {"verify"},
    {"verify/bundles", "verify/codegen"},
    // cuda/driver
    {"cuda/compilers"},
    {"cuda/compilers/library"},
    {"cuda/driver"},
    {"cuda/driver/order"},
    {"cuda/driver/modules", "cuda/driver/streams"},
    {"cuda/driver/memory"},
    {"cuda/driver/device", "cuda/driver/graphs", "cuda/driver/launch"},
    // kernels
    {"kernels/frame"},
    {"kernels/files"},
    {"kernels/hopper", "kernels/examples", "kernels/zoo"},
    {"kernels/blackwell", "kernels/examples/reference_examples"},
    {"kernels"},
    // report
    {"verify/sweep"},
    {"report/run"},
    {"report/html", "report/explain", "report/lab"},
    // cli
    {"cli/support"},
    {"cli/options"},
    {"cli/subjects"},
    {"cli/runs"},
    {"cli/execute"},
    {"cli/check", "cli/sweep", "cli/lab"},
    {"cli/commands"},
    {"cli"},
};

const std::set<std::string> rooms_that_see_all = {"cli", "tests", "bench"};

}  // namespace
