#pragma once
// Kernels of one's own with all commands of palladion: run, check, sweep, compare, ptx, list, ...
//
//   #include <palladion/program.h>
//   using namespace palladion::program;
//
//   struct Add { int64_t n = 4096, tile = 1024; };        // sizes and settings with their defaults
//   plgpu::Kernel add(const Add& c) { ... return plgpu::kernel(...); }
//   PALLADION_KERNELS(Spec("add", "out = a + b", add).size("n", &Add::n, "elements"));
//
// `palladion run add.cpp` compiles and loads this file. Or link it with a main of your own:
//
//   int main(int argc, char** argv) { return palladion::program::main(argc, argv); }
#include "frontend/plgpu.h"
#include "kernels/frame/registration.h"
#include "kernels/frame/rules.h"
#include "kernels/frame/typed_spec.h"
#include "verify/arrays/arrays.h"

namespace palladion::program {

namespace pl = palladion::pl;
namespace plgpu = palladion::plgpu;

// Arrays on the host (verify/arrays/arrays.h).
using palladion::Array;
using palladion::Fill;
using palladion::filled;
using palladion::from_doubles;
using palladion::from_floats;
using palladion::set_value;
using palladion::to_doubles;
using palladion::to_floats;
using palladion::Tolerance;
using palladion::value_at;

using kernels::Choice;
using kernels::KernelSpec;
using kernels::Range;
using kernels::RealRange;
using kernels::Rules;
using kernels::Spec;

// The whole program: parses the command line, runs the command, returns the exit code (0 clean, 1 findings or
// outputs that differ, 2 the user's mistake, 3 unsupported, 70 an internal error, 130 Ctrl-C).
// Its kernels are `specs`; without them, those that PALLADION_KERNELS named in the files linked in.
// Links palladion::program.
int main(int argc, const char* const* argv, std::vector<KernelSpec> specs = kernels::registered_kernels());

}  // namespace palladion::program
