// PLD58xx: files of a clock's parameters.
#include "isa/arch/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
    {5801, "a line of the clock's parameters that cannot be read",
     "Every line of a file for --clock is `key = value unit | spread | date | source`; `#` begins a comment. "
     "`palladion list h200` shows a whole file.",
     "hbm.read 4050", "hbm.read = 4050 GB/s | 20 | 2026-11-21 | my measurement"},
    {5802, "a parameter that the clock does not have", "The key is misspelt, or of another version.",
     "hbm.speed = 4050 GB/s | - | - | -", "hbm.read = 4050 GB/s | - | - | -"},
    {5803, "a parameter that is missing",
     "A file for --clock holds every parameter once: what is left out is never guessed.", "", ""},
    {5804, "a parameter with an invalid value",
     "Negative, not a number, given twice, or in another unit than the key's.",
     "hbm.read = 4.05 TB/s | - | - | -", "hbm.read = 4050 GB/s | - | - | -"},
    {5805, "a file of parameters that cannot be inherited",
     "`inherit NAME` takes all lines of a file that is compiled in (`palladion list` names the architectures "
     "that have one). It stands first, once, and no file inherits itself.",
     "hbm.read = 4050 GB/s | 20 | - | -\ninherit h200", "inherit h200\nhbm.read = 4050 GB/s | 20 | - | -"},
};

}  // namespace

std::span<const CodeText> clock_codes() { return table; }

}  // namespace palladion::isa
