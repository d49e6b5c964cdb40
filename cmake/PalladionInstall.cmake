# `cmake --install`: the program, the libraries, their headers below include/palladion, and the package that
# find_package(palladion) finds. tests/consumer proves it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PLD_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/palladion)
set(PLD_PUBLIC_LIBRARIES isa frontend sim report native traces arrays run verdict verify kernels zoo labs bundle)

foreach(name ${PLD_PUBLIC_LIBRARIES})
  install(TARGETS pld_${name} EXPORT palladionTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(folder isa frontend sim traces kernels labs verify cuda/abi cuda/native cuda/bundle)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/palladion/${parent}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()
install(TARGETS pld_cli EXPORT palladionTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/program.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/palladion)
if(TARGET palladion)
  install(TARGETS palladion RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# What is installed, without tests and benches: `./dev install` builds it.
add_custom_target(palladion_package)
foreach(target palladion palladion_capture palladion_cuda palladion_cudart palladion_cublas palladion_exec pld_cli)
  if(TARGET ${target})
    add_dependencies(palladion_package ${target})
  endif()
endforeach()
foreach(name ${PLD_PUBLIC_LIBRARIES})
  add_dependencies(palladion_package pld_${name})
endforeach()

install(FILES ${PLD_TBB_FILE} RENAME ${PLD_TBB_NAME} DESTINATION ${PLD_CARRIED_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT palladionTargets NAMESPACE palladion:: DESTINATION ${PLD_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/palladionConfig.cmake.in
  ${PROJECT_BINARY_DIR}/palladionConfig.cmake INSTALL_DESTINATION ${PLD_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/palladionConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/palladionConfig.cmake ${PROJECT_BINARY_DIR}/palladionConfigVersion.cmake
  DESTINATION ${PLD_PACKAGE_DIR})
