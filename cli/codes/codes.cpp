#include "cli/codes/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "arrays/words.h"

namespace palladion::cli {
namespace {

constexpr CodeText kernel_table[] = {
    {5001, "a kernel cannot be built or called so",
     "The sizes, settings or arrays break a rule of the kernel itself: a tile that does not divide a size, "
     "an array of another shape.",
     "palladion run vector_add --shape n=1000 --set tile=1024",
     "palladion run vector_add --shape n=2048 --set tile=1024"},
    {5002, "a tensor map that the driver would refuse",
     "A tensor map's box, strides, base address or swizzle breaks a rule of cuTensorMapEncodeTiled. The "
     "simulator holds maps to the same rules, so "
     "that what runs here runs on the device.",
     "--arg tmap:f16[64,64]@0,box=64x64,swizzle=32   (the inner box is 128 bytes, wider than the swizzle)",
     "--arg tmap:f16[64,64]@0,box=64x64,swizzle=128"},
    {5003, "a size or setting that the kernel does not have",
     "`palladion list` shows each kernel's sizes and settings with their defaults.",
     "palladion run vector_add --shape m=512", "palladion run vector_add --shape n=512"},
    {5801, "a line of the clock's parameters that cannot be read",
     "Every line of a file for --clock is `key = value unit | spread | date | source`; `#` begins a comment. "
     "`palladion list h200` shows a whole file.",
     "hbm.read 4050", "hbm.read = 4050 GB/s | 20 | 2026-11-21 | my measurement"},
    {5802, "a parameter that the clock does not have", "The key is misspelt, or of another version.",
     "hbm.speed = 4050 GB/s | - | - | -", "hbm.read = 4050 GB/s | - | - | -"},
    {5803, "a parameter that is missing",
     "A file for --clock holds every parameter once: what is left out is never guessed.", "", ""},
    {5804, "a parameter with a value that cannot be",
     "Negative, not a number, given twice, or in another unit than the key's.",
     "hbm.read = 4.05 TB/s | - | - | -", "hbm.read = 4050 GB/s | - | - | -"},
};

constexpr CodeText device_table[] = {
    {8001, "no CUDA driver",
     "libcuda.so.1 is not there, is the toolkit's link-time stub, or does not start. Everything but `--on "
     "device` works without it.",
     "", ""},
    {8002, "no device", "The driver runs but shows no GPU, or not the one asked for.", "", ""},
    {8003, "a call of the driver failed",
     "The message has the driver's own words: out of memory, a lost device, ...", "", ""},
    {8004, "a launch that cannot be",
     "Grid, block, cluster, shared memory or parameters do not fit the kernel or the device. Checked before "
     "the launch.",
     "", ""},
    {8005, "the driver's compiler refused the PTX",
     "The message is ptxas' own, with the line of the PTX and the author's line where the PTX carries .loc.",
     "", ""},
    {8006, "the kernel failed while it ran",
     "An illegal address, a trap, a misaligned access, ... The device is lost to this process. Run the same "
     "on the simulator: it says where and why.",
     "", ""},
    {8007, "the kernel did not end in time",
     "A hang on the device. Run the same on the simulator: it says which warps wait on what.", "", ""},
    {8008, "a tensor map that cannot be",
     "A rule of cuTensorMapEncodeTiled is broken; the message names the field and the limit.", "", ""},
};

// The taxonomy's groups: MB-13 is PLD4113.
struct Group {
  std::string_view letters;
  int hundreds;
};
constexpr Group groups[] = {{"MB", 41}, {"TX", 42}, {"TM", 43}, {"WG", 44}, {"NB", 46}, {"DV", 47},
                            {"CL", 48}, {"DL", 49}, {"GM", 60}, {"UN", 61}, {"RS", 62}, {"NU", 63}};

std::string in_capitals(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = char(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::span<const CodeText> kernel_codes() { return kernel_table; }
std::span<const CodeText> device_codes() { return device_table; }

std::span<const std::span<const CodeText>> all_codes() {
  static const std::span<const CodeText> tables[] = {
      text_codes(),        record_codes(),   run_codes(),    race_codes(),          mbarrier_codes(),
      transaction_codes(), tma_codes(),      wgmma_codes(),  named_barrier_codes(), divergence_codes(),
      cluster_codes(),     deadlock_codes(), kernel_codes(), global_codes(),        undefined_codes(),
      resource_codes(),    numerics_codes(), device_codes()};
  return tables;
}

const CodeText* find_code(int number) {
  for (const auto codes : all_codes()) {
    const auto at = std::ranges::find(codes, number, &CodeText::number);
    if (at != codes.end()) return &*at;
  }
  return nullptr;
}

int code_number(std::string_view word) {
  const std::string upper = in_capitals(word);
  word = upper;
  if (word.size() == 5 && word[2] == '-') {
    const auto group = std::ranges::find(groups, word.substr(0, 2), &Group::letters);
    const auto number = number_in<int>(word.substr(3));
    return group != std::end(groups) && number ? group->hundreds * 100 + *number : 0;
  }
  if (word.size() == 7 && word.starts_with("PLD")) word.remove_prefix(3);
  return word.size() == 4 ? number_in<int>(word).value_or(0) : 0;
}

std::string entry_of(int number) {
  const auto group = std::ranges::find(groups, number / 100, &Group::hundreds);
  return group == std::end(groups) ? "" : fmt::format("{}-{:02}", group->letters, number % 100);
}

}  // namespace palladion::cli
