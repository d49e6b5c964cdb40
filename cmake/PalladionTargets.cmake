# One static library a folder, named as the folder: palladion::isa, palladion::sim, palladion::native (cuda/native), ...
# Sources are globbed: a new file needs no edit here.
include(StaticFmt)
include(CarriedTbb)
find_package(tl-expected REQUIRED)
if(PLD_SANITIZE)
  set(Boost_USE_STATIC_LIBS OFF)  # not made for shared libraries that take C++'s library from elsewhere
else()
  set(Boost_USE_STATIC_LIBS ON)  # the program may be carried to a machine without Boost
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(Threads REQUIRED)
find_program(CCACHE ccache)
if(CCACHE)
  # What ccache needs to know of files that use a precompiled header (its manual, "Precompiled headers"); with
  # depend, a file that is not in the cache is not preprocessed a second time.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE})
endif()

# Every x86-64 server since 2013 and every machine that hosts a Hopper has AVX2, FMA and F16C;
# AVX-512 is chosen at run time where it pays (sim/numerics).
set(PLD_BASELINE -march=x86-64-v3 -ffp-contract=off -fno-trapping-math -fno-math-errno CACHE STRING "Instruction set that all code may use")
set(PLD_WARNINGS -Wall -Wextra -Wshadow -Werror=switch -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

if(PLD_SANITIZE)
  # The first report ends the program. Code that need not recover, at -O1, compiles in a quarter of the time.
  # Programs find the driver's functions by name and call them by the types of their own headers, as C has it, which
  # clang's check of function types refuses.
  add_compile_options(-fsanitize=${PLD_SANITIZE} $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>
    -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${PLD_SANITIZE})
  set(PLD_SANITIZED PLD_SANITIZED)  # a definition for code that must know: compilers name their sanitizers differently
  if(PLD_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)  # coverage, which libFuzzer follows
    add_link_options(-fsanitize=fuzzer-no-link)
  endif()
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

# Half of a file's compile time would else go into reading headers. The standard ones are precompiled once for each
# level of optimisation, for all libraries.
function(pld_standard_headers level)
  set(target pld_standard${level})
  file(CONFIGURE OUTPUT standard.cpp CONTENT "")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/standard.cpp)
  pld_link(${target} PRIVATE)
  target_compile_options(${target} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
  pld_optimise(${target} ${level})
  pld_precompile(${target} ${PROJECT_SOURCE_DIR}/cmake/pch/standard.h)
endfunction()

# pld_precompile(TARGET header...)
function(pld_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  pld_precompiled(${target})
endfunction()

# What ccache asks of files that use a precompiled header (its manual, "Precompiled headers").
function(pld_precompiled target)
  if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# pld_unity(TARGET [SEPARATE pattern...]): the files of a folder are compiled together, up to eight at once, which
# halves the time: they share their headers and instantiations. So names are unique in a folder, those of anonymous
# namespaces too. SEPARATE files are compiled alone.
function(pld_unity target)
  cmake_parse_arguments(ARG "" "" "SEPARATE" ${ARGN})
  if(NOT PLD_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(JOIN ARG_SEPARATE "|" separate)
  foreach(source ${sources})
    if(separate AND source MATCHES "^${PROJECT_SOURCE_DIR}/(${separate})")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "files_${folder}" files)
    list(APPEND folders ${files})
    list(APPEND ${files} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(files ${folders})
    list(LENGTH ${files} count)
    math(EXPR groups "(${count} + 7) / 8")
    math(EXPR size "(${count} + ${groups} - 1) / ${groups}")
    set(index 0)
    foreach(source ${${files}})
      get_filename_component(folder ${source} DIRECTORY)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
      string(REPLACE "/" "_" folder ${folder})
      math(EXPR group "${index} / ${size} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# pld_optimise(TARGET LEVEL): another level than CMAKE_CXX_FLAGS_RELEASE says, in optimised builds; with sanitizers -O0 alone.
function(pld_optimise target level)
  if(NOT PLD_SANITIZE OR level STREQUAL -O0)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
  endif()
endfunction()

# pld_compiled(TARGET LEVEL [SEPARATE pattern...] [PRECOMPILE header...]): how every part of the product is compiled.
# Headers of ours that most SEPARATE files include are worth a precompiled header of their own.
function(pld_compiled target level)
  cmake_parse_arguments(ARG "" "" "SEPARATE;PRECOMPILE" ${ARGN})
  target_compile_options(${target} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
  pld_optimise(${target} ${level})
  if(ARG_PRECOMPILE)
    list(TRANSFORM ARG_PRECOMPILE PREPEND ${PROJECT_SOURCE_DIR}/)
    pld_precompile(${target} ${PROJECT_SOURCE_DIR}/cmake/pch/standard.h ${ARG_PRECOMPILE})
  else()
    target_precompile_headers(${target} REUSE_FROM pld_standard${level})
    pld_precompiled(${target})
  endif()
  pld_unity(${target} SEPARATE ${ARG_SEPARATE})
endfunction()

function(pld_link target scope)
  pld_common(${target} ${scope})
  foreach(dep ${ARGN})
    target_link_libraries(${target} ${scope} pld_${dep})
  endforeach()
  target_link_libraries(${target} ${scope}
    $<BUILD_INTERFACE:pld_fmt> $<INSTALL_INTERFACE:fmt::fmt> tl::expected Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# HOT: sub-folders (or files) with loops that the compiler must vectorise; all else is text, tables and decisions,
# whose speed does not matter.
# FOLDER: where it is not the library's name; WITHOUT: a sub-folder that is a library of its own.
function(pld_library name)
  cmake_parse_arguments(ARG "" "FOLDER;WITHOUT" "DEPENDS;HOT;SEPARATE;PRECOMPILE" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${ARG_FOLDER}/*.cpp)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/${ARG_FOLDER}/main.cpp)  # pld_program
  if(ARG_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${ARG_WITHOUT}/")
  endif()
  set(scope PUBLIC)
  if(NOT sources)
    add_library(pld_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    set(hot ${sources})
    list(JOIN ARG_HOT "|" hot_pattern)
    list(FILTER hot INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/(${hot_pattern})")
    if(ARG_HOT)
      list(REMOVE_ITEM sources ${hot})
      add_library(pld_${name}_hot OBJECT ${hot})
      pld_compiled(pld_${name}_hot -O3 SEPARATE ${ARG_SEPARATE})
      pld_link(pld_${name}_hot PRIVATE ${ARG_DEPENDS})
      list(APPEND sources $<TARGET_OBJECTS:pld_${name}_hot>)
    endif()
    add_library(pld_${name} STATIC ${sources})
    pld_compiled(pld_${name} -O1 SEPARATE ${ARG_SEPARATE} PRECOMPILE ${ARG_PRECOMPILE})
  endif()
  add_library(palladion::${name} ALIAS pld_${name})
  set_target_properties(pld_${name} PROPERTIES EXPORT_NAME ${name})
  pld_link(pld_${name} ${scope} ${ARG_DEPENDS})
  # Kernels compiled for a wider vector unit than the baseline; chosen at run time.
  foreach(source ${hot})
    if(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
        COMPILE_OPTIONS "-march=x86-64-v4;-mprefer-vector-width=512")
    endif()
  endforeach()
endfunction()

# The program is main.cpp; the rest of the folder is a library, so that tests can link it.
function(pld_program folder name)
  pld_library(${folder} ${ARGN})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
    return()
  endif()
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
  target_compile_options(${name} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
  target_link_options(${name} PRIVATE ${PLD_PORTABLE_LINK})
  target_link_libraries(${name} PRIVATE pld_${folder})
  # Files of kernels that the program loads take all that a kernel may call from the program (kernels/files).
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  target_link_options(${name} PRIVATE LINKER:--whole-archive,$<TARGET_FILE:pld_isa>,$<TARGET_FILE:pld_frontend>,$<TARGET_FILE:pld_arrays>,$<TARGET_FILE:pld_kernels>,--no-whole-archive)
endfunction()

pld_standard_headers(-O1)
pld_standard_headers(-O3)
