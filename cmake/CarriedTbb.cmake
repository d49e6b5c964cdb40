# oneTBB is a shared library everywhere. A copy of it stands beside the programs, so that they can be carried to
# machines without it: README.md, "Carrying a program".
find_package(TBB REQUIRED COMPONENTS tbb)

get_target_property(tbb_configurations TBB::tbb IMPORTED_CONFIGURATIONS)
list(GET tbb_configurations 0 tbb_configuration)
get_target_property(PLD_TBB_NAME TBB::tbb IMPORTED_SONAME_${tbb_configuration})
get_target_property(tbb_location TBB::tbb IMPORTED_LOCATION_${tbb_configuration})
file(REAL_PATH ${tbb_location} PLD_TBB_FILE)
configure_file(${PLD_TBB_FILE} ${PROJECT_BINARY_DIR}/${PLD_TBB_NAME} COPYONLY)

set(PLD_CARRIED_DIR lib/palladion)
# The same for both: CMake would pad the shorter one with empty entries, which mean the current folder.
list(APPEND CMAKE_BUILD_RPATH "$ORIGIN" "$ORIGIN/.." "$ORIGIN/../${PLD_CARRIED_DIR}")
list(APPEND CMAKE_INSTALL_RPATH ${CMAKE_BUILD_RPATH})
