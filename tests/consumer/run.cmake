# ctest: installs the build at BUILD_DIR into a fresh prefix below WORK_DIR, builds the project beside this file
# against it, runs its programs and checks the size of the small one.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

function(run what)
  string(TIMESTAMP start "%s")
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  string(TIMESTAMP end "%s")
  math(EXPR seconds "${end} - ${start}")
  message(STATUS "${what}: ok, ${seconds} s")
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
# docs/first_kernel.md, step by step: from an empty folder to a kernel of one's own, checked and timed.
set(ENV{XDG_CACHE_HOME} ${WORK_DIR}/cache)
set(ENV{CXX} ${CXX})
set(palladion ${WORK_DIR}/prefix/bin/palladion)
set(kernel my_kernel/my_kernel.cpp)
run("new" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} new my_kernel)
run("run, the first time" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} run ${kernel})
file(APPEND ${WORK_DIR}/${kernel} "// changed\n")
run("run, after a change" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} run ${kernel})
run("check" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} check ${kernel})
run("time" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} run ${kernel} --schedule hardware --why)
run("sweep" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${palladion} sweep ${kernel} --set tile=256,512,1024)
run("configure it" ${CMAKE_COMMAND} -S ${WORK_DIR}/my_kernel -B ${WORK_DIR}/my_build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run("build it" ${CMAKE_COMMAND} --build ${WORK_DIR}/my_build)
run("its tests" ${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/my_build --output-on-failure)
run("its list" ${WORK_DIR}/my_build/my_kernel list my_kernel)
execute_process(COMMAND ${WORK_DIR}/my_build/my_kernel list kernels OUTPUT_VARIABLE listed)
if(listed MATCHES "vector_add" OR NOT listed MATCHES "my_kernel")
  message(FATAL_ERROR "the project's program has other kernels than its own:\n${listed}")
endif()

file(REMOVE_RECURSE ${WORK_DIR})
