// What the program prints. Nothing is buffered: what was printed stays when the program is ended, and a
// failed write is remembered instead of thrown, so that the rest of a report still goes where it can.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace palladion::cli {

// To standard output and standard error. Control characters and bytes that are no UTF-8 are shown as `\x1b`;
// newlines, tabs and colours stay.
void print_out(std::string_view text);
void print_err(std::string_view text);
template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args)
  requires(sizeof...(Args) > 0)
{
  print_out(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
}

// As they are: PTX, and what a kernel prints.
void write_out(std::string_view bytes);

// The first error of standard output since `forget_output_failure`, as an errno; 0: none.
int output_failure();
void forget_output_failure();

// From here on a reader that has gone is an error of a write (EPIPE) and does not end the program.
void ignore_broken_pipes();

}  // namespace palladion::cli
