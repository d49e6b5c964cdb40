# libpalladion_python.so, which the Python package opens: nothing but its C interface is seen from outside, and nothing but
# glibc and oneTBB is needed. Not with sanitizers, whose run-time library must come first in a program.
if(PLD_SANITIZE)
  return()
endif()
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/native/*.cpp)
add_library(palladion_python SHARED ${python_sources})
pld_unity(palladion_python)
target_compile_options(palladion_python PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE} -fvisibility=hidden)
set(exports ${PROJECT_SOURCE_DIR}/python/native/exports.map)
target_link_options(palladion_python PRIVATE ${PLD_PORTABLE_LINK} LINKER:--gc-sections LINKER:-Bsymbolic
  LINKER:--version-script=${exports})
set_target_properties(palladion_python PROPERTIES LINK_DEPENDS ${exports} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
pld_optimise(palladion_python -O1)
target_link_libraries(palladion_python PRIVATE pld_bundles pld_run_report)
install(TARGETS palladion_python LIBRARY DESTINATION ${PLD_CARRIED_DIR})
