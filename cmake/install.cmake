# What "cmake --install" puts where: the library with its package for find_package(lamina), the program, licence and pages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lamina)

# A static library does not carry what it is linked with: the package finds it again (laminaConfig.cmake.in).
target_include_directories(lamina PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS lamina EXPORT laminaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT laminaTargets NAMESPACE lamina:: DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lamina DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/laminaConfig.cmake.in ${PROJECT_BINARY_DIR}/laminaConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/laminaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/laminaConfig.cmake ${PROJECT_BINARY_DIR}/laminaConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/parts.cmake DESTINATION ${package_folder})

if(TARGET lamina_cli)
  install(TARGETS lamina_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/examples/predict.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
# What `lamina bench paper-2016 --peers` runs.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/peers/train_cpu DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/peers)
install(FILES ${PROJECT_SOURCE_DIR}/bench/peers/train_peers.py ${PROJECT_SOURCE_DIR}/bench/peers/environment.py
  ${PROJECT_SOURCE_DIR}/bench/peers/requirements.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/peers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/data)
