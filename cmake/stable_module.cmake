# lamina/_core of a Python package that is cross-compiled: one file for every CPython from 3.12 on, whose stable ABI it keeps
# to (scripts/windows --wheel, scripts/musl; docs/decisions/0096-windows-python.md, 0123-musl-wheel.md).
set(LAMINA_STABLE_PYTHON "" CACHE PATH "CPython's sources: its headers, and the list of the stable ABI")
set(LAMINA_STABLE_NANOBIND "" CACHE PATH "The folder of the Python package nanobind")
if(NOT LAMINA_STABLE_PYTHON)
  return()
endif()
set(own ${PROJECT_BINARY_DIR}/module)
# The names of the stable ABI, as CPython's sources list them.
file(STRINGS ${LAMINA_STABLE_PYTHON}/PC/python3dll.c stable_names REGEX "^EXPORT_(FUNC|DATA)\\([A-Za-z0-9_]+\\)$")
list(TRANSFORM stable_names REPLACE "^EXPORT_(FUNC|DATA)\\((.*)\\)$" "\\2 \\1")

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cc)
add_library(lamina_stable_module SHARED EXCLUDE_FROM_ALL ${sources} ${LAMINA_STABLE_NANOBIND}/src/nb_combined.cpp)
set_target_properties(lamina_stable_module PROPERTIES OUTPUT_NAME _core PREFIX "" CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_compile_definitions(lamina_stable_module PRIVATE Py_LIMITED_API=0x030C0000)
set_source_files_properties(${LAMINA_STABLE_NANOBIND}/src/nb_combined.cpp PROPERTIES COMPILE_DEFINITIONS NB_BUILD)
target_compile_options(lamina_stable_module PRIVATE -O2 -fno-strict-aliasing)  # as nanobind asks
target_include_directories(lamina_stable_module PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(lamina_stable_module SYSTEM PRIVATE
  ${own} ${LAMINA_STABLE_PYTHON}/Include ${LAMINA_STABLE_NANOBIND}/include ${LAMINA_STABLE_NANOBIND}/ext/robin_map/include)
target_link_libraries(lamina_stable_module PRIVATE lamina fmt::fmt nlohmann_json::nlohmann_json)
if(WIN32)
  include(${CMAKE_CURRENT_LIST_DIR}/stable_module_windows.cmake)
else()
  include(${CMAKE_CURRENT_LIST_DIR}/stable_module_musl.cmake)
endif()
