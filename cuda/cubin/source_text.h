#pragma once
// The author's text within PTX, for programs whose text is in no file: a debug section that survives whatever
// links, prints or keeps the PTX.
#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::cubin {

struct SourceText {
  std::string file;  // as .file names it
  std::string text;
};
// The PTX with the section behind it; as it was where no .file of the PTX is `name`, or the text is larger
// than 256 KiB.
std::string with_source(std::string ptx, std::string_view name, std::string_view text);
std::vector<SourceText> sources_in(std::string_view ptx);
// The sections themselves, one behind the other: for a text that is made of this one.
std::string source_sections(std::string_view ptx);

}  // namespace palladion::cuda::cubin
