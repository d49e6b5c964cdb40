# kernels/zoo/*/*.ptx become string literals in the generated header kernels/zoo/ptx_files.h. They are literals of string_view: clang limits
# the steps of a constant expression, and to count the characters of them all would take more.
file(GLOB zoo_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/zoo/*/*.ptx)
set(header "#pragma once\n#include \"kernels/zoo/ptx_file.h\"\nnamespace palladion::kernels::zoo {\nusing namespace std::literals;\ninline constexpr PtxFile ptx_files[] = {\n")
foreach(source ${zoo_sources})
  get_filename_component(name ${source} NAME_WE)
  file(READ ${source} text)
  string(APPEND header "    {\"${name}\", R\"ptx(${text})ptx\"sv},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()
string(APPEND header "};\n}  // namespace palladion::kernels::zoo\n")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/include/kernels/zoo/ptx_files.h CONTENT "${header}")
