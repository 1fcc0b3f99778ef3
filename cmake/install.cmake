# What "cmake --install" puts where, in the components program, library, predict and gui: the library with its package for find_package(lamina), the program, licence and pages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lamina)

# A static library does not carry what it is linked with: the package finds it again (laminaConfig.cmake.in).
target_include_directories(lamina PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(installed lamina)
if(TARGET lamina_cuda)
  list(APPEND installed lamina_cuda)
  target_include_directories(lamina_cuda INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(NOT LAMINA_CUDA_FOLDER)
    set(LAMINA_CUDA_FOLDER lib/lamina)
  endif()
  install(TARGETS lamina_cuda_plugin LIBRARY DESTINATION ${LAMINA_CUDA_FOLDER} COMPONENT cuda EXCLUDE_FROM_ALL)
endif()
install(TARGETS ${installed} EXPORT laminaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT laminaTargets NAMESPACE lamina:: DESTINATION ${package_folder} COMPONENT library)
# lamina_DIR=build/PRESET finds the library where it was built: the Python package's tests link it so.
export(EXPORT laminaTargets NAMESPACE lamina:: FILE ${PROJECT_BINARY_DIR}/laminaTargets.cmake)
file(COPY ${PROJECT_SOURCE_DIR}/cmake/parts.cmake DESTINATION ${PROJECT_BINARY_DIR})
include(cmake/public_headers.cmake)
foreach(header ${lamina_public_headers} ${lamina_public_parts} ${lamina_public_device_headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/lamina/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lamina/${folder} COMPONENT library)
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/laminaConfig.cmake.in ${PROJECT_BINARY_DIR}/laminaConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/laminaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/laminaConfig.cmake ${PROJECT_BINARY_DIR}/laminaConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/parts.cmake DESTINATION ${package_folder} COMPONENT library)

# The library that only answers, component predict: find_package(lamina COMPONENTS predict), or pkg-config.
if(TARGET lamina_predict)
  install(TARGETS lamina_predict EXPORT laminaPredictTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT predict
          NAMELINK_COMPONENT predict)
  install(EXPORT laminaPredictTargets NAMESPACE lamina:: DESTINATION ${package_folder} COMPONENT predict)
  install(FILES ${lamina_predict_archive_file} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT predict)
  install(FILES ${PROJECT_SOURCE_DIR}/lamina/lamina.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lamina COMPONENT predict)
  install(FILES ${PROJECT_BINARY_DIR}/laminaConfig.cmake ${PROJECT_BINARY_DIR}/laminaConfigVersion.cmake
          DESTINATION ${package_folder} COMPONENT predict)
  file(RELATIVE_PATH include_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/lamina_predict.pc.in ${PROJECT_BINARY_DIR}/lamina_predict.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lamina_predict.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT predict)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
if(TARGET lamina_cli)
  install(TARGETS lamina_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # A package that carries its libraries keeps them in lib/lamina (scripts/package); RPATH, not RUNPATH, so that it counts
  # for what these libraries need, too. Elsewhere that folder is not there and nothing changes.
  foreach(program lamina_cli lamina_gui)
    if(TARGET ${program} AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
      set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/lamina")
      target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    endif()
  endforeach()
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    set(help_files ${PROJECT_BINARY_DIR}/help_files)
    add_custom_target(lamina_help_files COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/help_files
                      ${help_files} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:lamina_cli> DEPENDS lamina_cli)
    install(DIRECTORY ${help_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
    install(FILES ${help_files}/bash/lamina DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
    install(FILES ${help_files}/zsh/_lamina DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions OPTIONAL)
    install(FILES ${help_files}/fish/lamina.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/examples/predict.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT library)
# What `lamina bench paper-2016 --peers` and `lamina bench matrix --peers` run.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/peers/train_cpu ${PROJECT_SOURCE_DIR}/bench/peers/matrix_peers
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/peers)
install(FILES ${PROJECT_SOURCE_DIR}/bench/peers/train_peers.py ${PROJECT_SOURCE_DIR}/bench/peers/layer_peers.py
  ${PROJECT_SOURCE_DIR}/bench/peers/environment.py
  ${PROJECT_SOURCE_DIR}/bench/peers/requirements.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/peers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lamina/data)
