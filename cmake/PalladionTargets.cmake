# One static library a folder, named as the folder: palladion::isa, palladion::sim, ...
# Sources are globbed: a new file needs no edit here.
include(StaticFmt)
include(CarriedTbb)
find_package(tl-expected REQUIRED)
set(Boost_USE_STATIC_LIBS ON)  # the program may be carried to a machine without Boost
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(Threads REQUIRED)
find_program(CCACHE ccache)
if(CCACHE)
  # What ccache needs to know of files that use a precompiled header (its manual, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Every x86-64 server since 2013 and every machine that hosts a Hopper has AVX2, FMA and F16C;
# AVX-512 is chosen at run time where it pays (sim/numerics).
set(PLD_BASELINE -march=x86-64-v3 -ffp-contract=off -fno-trapping-math -fno-math-errno CACHE STRING "Instruction set that all code may use")
set(PLD_WARNINGS -Wall -Wextra -Wshadow -Werror=switch -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

if(PLD_SANITIZE)
  # The first report ends the program. Code that need not recover, at -O1, compiles in a quarter of the time.
  add_compile_options(-fsanitize=${PLD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${PLD_SANITIZE})
else()
  # The program may be carried to a machine with an older libstdc++.
  set(PLD_PORTABLE_LINK -static-libstdc++ -static-libgcc)
endif()

# In the tree `#include "isa/core/module.h"` is found from the root; users write <palladion/isa/core/module.h>.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include/palladion SYMBOLIC)

function(pld_common target scope)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>
    $<INSTALL_INTERFACE:include/palladion>)
endfunction()

# pld_precompile(TARGET header...): two thirds of a file's compile time would else go into reading headers.
function(pld_precompile target)
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch/standard.h ${ARGN})
  if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# pld_optimise(TARGET LEVEL): another level than CMAKE_CXX_FLAGS_RELEASE says, in optimised builds.
function(pld_optimise target level)
  if(NOT PLD_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
  endif()
endfunction()

# HOT: loops that the compiler must vectorise. COLD: text and tables, whose speed does not matter.
# PRECOMPILE: headers of ours that most files of the folder include.
function(pld_library name)
  cmake_parse_arguments(ARG "HOT;COLD" "" "DEPENDS;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    add_library(pld_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(pld_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_compile_options(pld_${name} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
    if(ARG_HOT)
      pld_optimise(pld_${name} -O3)
    elseif(ARG_COLD)
      pld_optimise(pld_${name} -O1)
    endif()
    list(TRANSFORM ARG_PRECOMPILE PREPEND ${PROJECT_SOURCE_DIR}/)
    pld_precompile(pld_${name} ${ARG_PRECOMPILE})
  endif()
  add_library(palladion::${name} ALIAS pld_${name})
  set_target_properties(pld_${name} PROPERTIES EXPORT_NAME ${name})
  pld_common(pld_${name} ${scope})
  foreach(dep ${ARG_DEPENDS})
    target_link_libraries(pld_${name} ${scope} pld_${dep})
  endforeach()
  target_link_libraries(pld_${name} ${scope}
    $<BUILD_INTERFACE:pld_fmt> $<INSTALL_INTERFACE:fmt::fmt> tl::expected Threads::Threads ${CMAKE_DL_LIBS})
  # Kernels compiled for a wider vector unit than the baseline; chosen at run time.
  foreach(source ${sources})
    if(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
        COMPILE_OPTIONS "-march=x86-64-v4;-mprefer-vector-width=512")
    endif()
  endforeach()
endfunction()

# The program is main.cpp; the rest of the folder is a library, so that tests can link it.
function(pld_program folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRECOMPILE" ${ARGN})
  list(TRANSFORM ARG_PRECOMPILE PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
  if(sources)
    add_library(pld_${folder} STATIC ${sources})
    target_compile_options(pld_${folder} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
    pld_common(pld_${folder} PUBLIC)
    pld_optimise(pld_${folder} -O1)
    pld_precompile(pld_${folder} ${ARG_PRECOMPILE})
    foreach(dep ${ARG_DEPENDS})
      target_link_libraries(pld_${folder} PUBLIC pld_${dep})
    endforeach()
  endif()
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
    return()
  endif()
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
  target_compile_options(${name} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
  target_link_options(${name} PRIVATE ${PLD_PORTABLE_LINK})
  target_link_libraries(${name} PRIVATE pld_${folder})
endfunction()
