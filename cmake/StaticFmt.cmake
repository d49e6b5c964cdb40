# pld_fmt: {fmt} as a static part of every program of this build, so that `palladion` can be carried to a
# machine without libfmt. Users of the installed package get fmt::fmt as their system has it.
find_package(fmt REQUIRED)
find_library(PLD_FMT_ARCHIVE libfmt.a)
mark_as_advanced(PLD_FMT_ARCHIVE)
get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)

if(PLD_FMT_ARCHIVE)
  add_library(pld_fmt INTERFACE)
  target_link_libraries(pld_fmt INTERFACE ${PLD_FMT_ARCHIVE})
  target_include_directories(pld_fmt SYSTEM INTERFACE ${fmt_include})
elseif(fmt_VERSION MATCHES "^9\\.")
  add_library(pld_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cpp)
  target_include_directories(pld_fmt SYSTEM PUBLIC ${fmt_include})
else()
  message(STATUS "No libfmt.a: programs will need libfmt.so where they run")
  add_library(pld_fmt INTERFACE)
  target_link_libraries(pld_fmt INTERFACE fmt::fmt)
endif()
