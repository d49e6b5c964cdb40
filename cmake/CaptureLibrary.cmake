# libpalladion_capture.so, which `palladion capture` preloads into other programs: nothing of ours or of the C++
# library is seen from outside, and nothing but glibc is needed.
file(GLOB capture_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/capture/*.cpp
  ${PROJECT_SOURCE_DIR}/cuda/cubin/*.cpp ${PROJECT_SOURCE_DIR}/cuda/fatbin/*.cpp)
add_library(palladion_capture SHARED ${capture_sources} ${PROJECT_SOURCE_DIR}/cuda/bundle/write.cpp
  ${PROJECT_SOURCE_DIR}/cuda/bundle/write_textures.cpp)
pld_unity(palladion_capture)
target_include_directories(palladion_capture PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(palladion_capture PRIVATE ${PLD_WARNINGS} -O2 -fvisibility=hidden -ffunction-sections -fdata-sections)
target_link_options(palladion_capture PRIVATE ${PLD_PORTABLE_LINK} LINKER:--gc-sections LINKER:-Bsymbolic
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/cuda/capture/exports.map)
set_target_properties(palladion_capture PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/capture/exports.map
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(palladion_capture PRIVATE ${PLD_ZSTD} ${PLD_LZ4} ${CMAKE_DL_LIBS} Threads::Threads tl::expected)
install(TARGETS palladion_capture LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Never sanitized: a sanitizer's run-time library must come first in a program, and looks its functions up with the dlsym
# that this library replaces.
if(PLD_SANITIZE)
  target_compile_options(palladion_capture PRIVATE -fno-sanitize=all)
  target_link_options(palladion_capture PRIVATE -fno-sanitize=all)
endif()
