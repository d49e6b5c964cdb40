# `cmake --install`: the program, the libraries, their headers below include/palladion, and the package that
# find_package(palladion) finds. tests/consumer proves it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PLD_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/palladion)
set(PLD_PUBLIC_LIBRARIES isa frontend sim report native traces arrays run verdict verify kernels zoo labs bundle cubin fatbin
  toolkit bundles codegen sweep kernel_files explain lab_engine lab_report programs)

foreach(name ${PLD_PUBLIC_LIBRARIES})
  install(TARGETS pld_${name} EXPORT palladionTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(folder isa frontend sim report/text traces kernels labs verify cuda/abi cuda/native cuda/bundle cuda/cubin cuda/fatbin cuda/toolkit)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/palladion/${parent}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()
install(TARGETS pld_cli pld_run_report EXPORT palladionTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/program.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/palladion)
if(TARGET palladion)
  install(TARGETS palladion RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The manual page and the shells' completions, as the program prints them.
if(TARGET palladion)
  set(PLD_SHARE ${PROJECT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${PLD_SHARE})
  add_custom_command(OUTPUT ${PLD_SHARE}/palladion.1 ${PLD_SHARE}/palladion ${PLD_SHARE}/_palladion ${PLD_SHARE}/palladion.fish
    COMMAND palladion help --man > ${PLD_SHARE}/palladion.1
    COMMAND palladion completion bash > ${PLD_SHARE}/palladion
    COMMAND palladion completion zsh > ${PLD_SHARE}/_palladion
    COMMAND palladion completion fish > ${PLD_SHARE}/palladion.fish
    DEPENDS palladion)
  add_custom_target(palladion_manual DEPENDS ${PLD_SHARE}/palladion.1)
  install(FILES ${PLD_SHARE}/palladion.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
  install(FILES ${PLD_SHARE}/palladion DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(FILES ${PLD_SHARE}/_palladion DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
  install(FILES ${PLD_SHARE}/palladion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
endif()

# What is installed, without tests and benches: `./dev install` builds it.
add_custom_target(palladion_package)
foreach(target palladion palladion_python palladion_manual palladion_capture palladion_cuda palladion_cudart palladion_cublas palladion_cufft palladion_curand palladion_cusolver palladion_cusparse palladion_cudnn palladion_cupti palladion_nvml palladion_exec palladion_compilers palladion_ptxas pld_cli)
  if(TARGET ${target})
    add_dependencies(palladion_package ${target})
  endif()
endforeach()
foreach(name ${PLD_PUBLIC_LIBRARIES})
  add_dependencies(palladion_package pld_${name})
endforeach()

install(FILES ${PLD_TBB_FILE} RENAME ${PLD_TBB_NAME} DESTINATION ${PLD_CARRIED_DIR})
# The files of the tutorial, and the handbook where docs/build has made it.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/tutorial DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT palladionTargets NAMESPACE palladion:: DESTINATION ${PLD_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/palladionConfig.cmake.in
  ${PROJECT_BINARY_DIR}/palladionConfig.cmake INSTALL_DESTINATION ${PLD_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/palladionConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/palladionConfig.cmake ${PROJECT_BINARY_DIR}/palladionConfigVersion.cmake
  DESTINATION ${PLD_PACKAGE_DIR})
