#pragma once
// Bytes as PTX states them.
#include <string>
#include <string_view>

namespace palladion::cuda::cubin {

// ".b8 95,90,...", in lines of 64 values.
std::string byte_values(std::string_view bytes);

}  // namespace palladion::cuda::cubin
