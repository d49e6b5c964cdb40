# exec: what `palladion exec` puts first into another program. libcuda.so.1 is the driver API on the simulated machine,
# libcudart.so.13 the runtime API above it, libpalladion_exec.so is preloaded and directs programs that contain a
# runtime library to ours. Nothing but the APIs' functions is seen from outside.
# pld_exec_library(TARGET FOLDER NAME VERSION)
function(pld_exec_library target folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${folder}/(runtime|cublas|cufft|curand|cusolver|cusparse|cudnn|cupti|nvml|preload)/")  # libraries of their own
  add_library(${target} SHARED ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE} -fvisibility=hidden)
  target_link_options(${target} PRIVATE ${PLD_PORTABLE_LINK} LINKER:-Bsymbolic LINKER:-z,nodelete
    LINKER:--version-script=${PROJECT_SOURCE_DIR}/${folder}/exports.map)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/exports.map
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/exec
    BUILD_RPATH "$ORIGIN;$ORIGIN/.." INSTALL_RPATH "$ORIGIN;$ORIGIN/../../palladion;$ORIGIN/..")
  pld_unity(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${PLD_CARRIED_DIR}/exec)
endfunction()

pld_exec_library(palladion_cuda cuda/driver cuda)
set_target_properties(palladion_cuda PROPERTIES SOVERSION 1)
set(aliases ${PROJECT_SOURCE_DIR}/cuda/driver/per_thread.ld ${PROJECT_SOURCE_DIR}/cuda/driver/versions.ld)
target_link_libraries(palladion_cuda PRIVATE pld_report pld_verdict pld_sim pld_fatbin pld_cubin pld_order pld_isa ${aliases})
target_compile_definitions(palladion_cuda PRIVATE ${PLD_SANITIZED})
set_property(TARGET palladion_cuda APPEND PROPERTY LINK_DEPENDS ${aliases})

pld_exec_library(palladion_cudart cuda/driver/runtime cudart)
set_target_properties(palladion_cudart PROPERTIES SOVERSION 13)
target_link_libraries(palladion_cudart PRIVATE palladion_cuda)
target_sources(palladion_cudart PRIVATE ${PROJECT_SOURCE_DIR}/cuda/driver/lifetime.cpp)

# pld_stand_in(NAME FILE VERSION STATUS): in place of a library of NVIDIA's; each function of absent.txt is told by name and
# answers STATUS, the library's "not supported".
function(pld_stand_in name soname version status)
  set(folder cuda/driver/${name})
  pld_exec_library(palladion_${name} ${folder} ${soname})
  set_target_properties(palladion_${name} PROPERTIES SOVERSION ${version})
  target_link_libraries(palladion_${name} PRIVATE palladion_cuda)
  file(READ ${PROJECT_SOURCE_DIR}/${folder}/absent.txt names)
  string(REGEX MATCHALL "[A-Za-z0-9_]+" names "${names}")
  set(text "#include \"cuda/driver/stand_in.h\"\n#define PLD_ABSENT(name) \\\n\
  PLD_STAND_IN int name() { return palladion_exec_unsupported(#name), ${status}; }\n")
  foreach(absent ${names})
    string(APPEND text "PLD_ABSENT(${absent})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}_absent.cpp CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/absent.txt)
  target_sources(palladion_${name} PRIVATE ${PROJECT_BINARY_DIR}/${name}_absent.cpp)
endfunction()
pld_stand_in(cublas cublas 13 15)
pld_stand_in(cufft cufft 12 16)
pld_stand_in(curand curand 10 204)
pld_stand_in(cusolver cusolver 12 9)
pld_stand_in(cusparse cusparse 12 10)
pld_stand_in(cudnn cudnn 9 3000)
pld_stand_in(cupti cupti 13 27)
pld_stand_in(nvml nvidia-ml 1 3)
# These compute (Eigen).
foreach(name cublas cudnn cufft cusolver)
  target_link_libraries(palladion_${name} PRIVATE Eigen3::Eigen)
endforeach()

# cublasLt is the same file as cuBLAS.
set(light ${PROJECT_BINARY_DIR}/exec/libcublasLt.so.13)
add_custom_command(TARGET palladion_cublas POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcublas.so.13 ${light})
install(FILES ${light} DESTINATION ${PLD_CARRIED_DIR}/exec)

# Not with sanitizers, whose run-time library must come first in a program: only tests/cuda/driver, which has it, calls the
# libraries above then.
if(PLD_SANITIZE)
  return()
endif()
pld_exec_library(palladion_exec cuda/driver/preload palladion_exec)
# DT_RPATH: what the program itself puts into LD_LIBRARY_PATH (nvcc does) comes behind our folder.
target_link_options(palladion_exec PRIVATE LINKER:-z,initfirst LINKER:--disable-new-dtags)
# The libraries above are loaded with it, so that whoever needs NVIDIA's by name has them.
target_link_libraries(palladion_exec PRIVATE -Wl,--no-as-needed palladion_cuda palladion_cudart palladion_cublas palladion_cufft palladion_curand palladion_cusolver palladion_cusparse palladion_cudnn
  palladion_cupti palladion_nvml ${CMAKE_DL_LIBS})

# What Python does first under the clock.
foreach(file python/under_exec/sitecustomize.py python/palladion/_bench.py)
  cmake_path(GET file FILENAME name)
  configure_file(${PROJECT_SOURCE_DIR}/${file} ${PROJECT_BINARY_DIR}/exec/python/${name} COPYONLY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${PLD_CARRIED_DIR}/exec/python)
endforeach()

# Programs ask it whether there is a GPU.
configure_file(cuda/driver/nvml/nvidia-smi ${PROJECT_BINARY_DIR}/exec/nvidia-smi COPYONLY)
install(PROGRAMS cuda/driver/nvml/nvidia-smi DESTINATION ${PLD_CARRIED_DIR}/exec)

# What stands in for ptxas, nvlink, NVRTC's machine code and nvJitLink.
pld_exec_library(palladion_compilers cuda/compilers/library palladion_compilers)
target_link_libraries(palladion_compilers PRIVATE pld_compilers ${CMAKE_DL_LIBS})
add_executable(palladion_ptxas ${PROJECT_SOURCE_DIR}/cuda/compilers/main.cpp)
target_compile_options(palladion_ptxas PRIVATE ${PLD_WARNINGS} ${PLD_BASELINE})
target_link_options(palladion_ptxas PRIVATE ${PLD_PORTABLE_LINK})
target_link_libraries(palladion_ptxas PRIVATE pld_compilers)
set_target_properties(palladion_ptxas PROPERTIES OUTPUT_NAME ptxas RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/exec)
add_custom_command(TARGET palladion_ptxas POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink ptxas ${PROJECT_BINARY_DIR}/exec/nvlink)
install(TARGETS palladion_ptxas RUNTIME DESTINATION ${PLD_CARRIED_DIR}/exec)
install(FILES ${PROJECT_BINARY_DIR}/exec/nvlink DESTINATION ${PLD_CARRIED_DIR}/exec)
