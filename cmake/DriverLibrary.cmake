# exec/libcuda.so.1, the driver API on the simulated machine, which `palladion exec` puts first into another program.
# Nothing but the API's functions is seen from outside. Not with sanitizers, whose run-time library must come first.
if(PLD_SANITIZE)
  return()
endif()
file(GLOB driver_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/driver/*.cpp)
add_library(palladion_cuda SHARED ${driver_sources})
target_include_directories(palladion_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(palladion_cuda PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE} -fvisibility=hidden)
target_link_options(palladion_cuda PRIVATE ${PLD_PORTABLE_LINK} LINKER:-Bsymbolic LINKER:-z,nodelete
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/driver/exports.map)
set_target_properties(palladion_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/driver/exports.map
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/exec
  BUILD_RPATH "$ORIGIN;$ORIGIN/.." INSTALL_RPATH "$ORIGIN;$ORIGIN/../../palladion;$ORIGIN/..")
target_link_libraries(palladion_cuda PRIVATE pld_sim pld_fatbin pld_isa)
install(TARGETS palladion_cuda LIBRARY DESTINATION ${PLD_CARRIED_DIR}/exec)
