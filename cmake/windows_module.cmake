# lamina/_core.pyd of the Python package for Windows, cross-compiled: one file for every CPython from 3.12 on, whose stable
# ABI it keeps to (scripts/windows --wheel; docs/decisions/0096-windows-python.md).
set(LAMINA_WINDOWS_PYTHON "" CACHE PATH "CPython's sources: its headers, and the list of the stable ABI")
set(LAMINA_WINDOWS_NANOBIND "" CACHE PATH "The folder of the Python package nanobind")
if(NOT LAMINA_WINDOWS_PYTHON)
  return()
endif()
set(own ${PROJECT_BINARY_DIR}/module)
configure_file(${LAMINA_WINDOWS_PYTHON}/PC/pyconfig.h.in ${own}/pyconfig.h COPYONLY)

# What python3.dll has, as its own sources list it: what is not in there does not link.
file(STRINGS ${LAMINA_WINDOWS_PYTHON}/PC/python3dll.c lines REGEX "^EXPORT_(FUNC|DATA)\\([A-Za-z0-9_]+\\)$")
set(names "LIBRARY python3.dll\nEXPORTS\n")
foreach(line ${lines})
  string(REGEX REPLACE "^EXPORT_(FUNC|DATA)\\((.*)\\)$" "\\2 \\1\n" name ${line})
  string(REPLACE " FUNC" "" name ${name})
  string(APPEND names "${name}")
endforeach()
file(CONFIGURE OUTPUT ${own}/python3.def CONTENT "${names}")
add_custom_command(OUTPUT ${own}/libpython3.a DEPENDS ${own}/python3.def
                   COMMAND x86_64-w64-mingw32-dlltool -d ${own}/python3.def -l ${own}/libpython3.a)
add_custom_target(lamina_windows_python DEPENDS ${own}/libpython3.a)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cc)
add_library(lamina_windows_module MODULE EXCLUDE_FROM_ALL ${sources} ${LAMINA_WINDOWS_NANOBIND}/src/nb_combined.cpp)
add_dependencies(lamina_windows_module lamina_windows_python)
set_target_properties(lamina_windows_module PROPERTIES OUTPUT_NAME _core PREFIX "" SUFFIX .pyd CXX_VISIBILITY_PRESET hidden)
target_compile_definitions(lamina_windows_module PRIVATE Py_LIMITED_API=0x030C0000)
set_source_files_properties(${LAMINA_WINDOWS_NANOBIND}/src/nb_combined.cpp PROPERTIES COMPILE_DEFINITIONS NB_BUILD)
target_compile_options(lamina_windows_module PRIVATE -O2 -fno-strict-aliasing)  # as nanobind asks
target_include_directories(lamina_windows_module PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(lamina_windows_module SYSTEM PRIVATE
  ${own} ${LAMINA_WINDOWS_PYTHON}/Include ${LAMINA_WINDOWS_NANOBIND}/include ${LAMINA_WINDOWS_NANOBIND}/ext/robin_map/include)
target_link_libraries(lamina_windows_module PRIVATE lamina fmt::fmt nlohmann_json::nlohmann_json ${own}/libpython3.a)
target_link_options(lamina_windows_module PRIVATE -static -Wl,--gc-sections,--no-insert-timestamp,-u,mbrtowc)
