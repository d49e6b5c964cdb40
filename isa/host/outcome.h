// What a function gives that reads files, runs programs or takes what a user wrote: a value, or why not.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "isa/core/diagnostic.h"

namespace palladion::host {

struct Failure {
  enum class Kind {
    mistake,      // of the user, or of a file
    unsupported,  // not in this version, not on this machine
    not_written,  // a file
    interrupted,  // by Ctrl-C
  };
  Kind kind = Kind::mistake;
  std::string text;  // whole lines, as they are printed
};

template <class T>
using Outcome = tl::expected<T, Failure>;

// "error: ..." and "  help: ..." lines.
tl::unexpected<Failure> user_error(const std::string& message, const std::string& help = {});
tl::unexpected<Failure> unsupported(const std::string& message, const std::string& help = {});
// Unsupported when nothing but that is wrong. `source` is the text that places without a file refer to.
tl::unexpected<Failure> failure_of(const isa::Diagnostics& diagnostics, std::string_view source = {});

// A file that was probed before the run and cannot be written after it.
tl::unexpected<Failure> not_written(const std::string& message);

// "not in this version: --trace"
tl::unexpected<Failure> not_in_this_version(const std::string& what, const std::string& help = {});

// `text`: what is known by then; may be empty.
tl::unexpected<Failure> interruption(std::string text = {});

}  // namespace palladion::host
