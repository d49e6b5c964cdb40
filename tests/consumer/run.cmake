# ctest: installs the build at BUILD_DIR into a fresh prefix below WORK_DIR, builds the project beside this file
# against it, runs its programs and checks the size of the small one.
file(REMOVE_RECURSE ${WORK_DIR})

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  message(STATUS "${what}: ok")
endfunction()

run("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run("configure" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run("build" ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run("parse_and_run" ${WORK_DIR}/build/parse_and_run)
run("own_kernel" ${WORK_DIR}/build/own_kernel)
run("record_kernel" ${WORK_DIR}/build/record_kernel)

if(BUILD_TYPE STREQUAL "Release")
  set(limit 10000000)
  file(SIZE ${WORK_DIR}/build/parse_and_run size)
  if(size GREATER_EQUAL limit)
    message(FATAL_ERROR "parsing and the machine alone link to ${size} bytes, not under ${limit}")
  endif()
  message(STATUS "parse_and_run: ${size} bytes")
endif()
file(REMOVE_RECURSE ${WORK_DIR})
