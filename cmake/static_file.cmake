# lamina_static: the objects of the program and its library, linked once more into one file that needs nothing of a
# system (docs/decisions/0079-static-file.md). Nothing is compiled twice, so it takes seconds beside a built program. What
# Debian has as shared libraries only, fmt and Highway, is compiled here; plug-ins and BLAS, which a loader would open, are
# left out, and lamina says so.
get_target_property(kind lamina TYPE)
if(NOT kind STREQUAL "STATIC_LIBRARY" OR LAMINA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  return()
endif()
get_filename_component(zlib_folder "${ZLIB_LIBRARIES}" DIRECTORY)
find_library(LAMINA_STATIC_ZLIB libz.a HINTS ${zlib_folder})
find_library(LAMINA_STATIC_EXPAT libexpat.a HINTS ${zlib_folder})
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libc.a OUTPUT_VARIABLE libc OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT LAMINA_STATIC_ZLIB OR NOT LAMINA_STATIC_EXPAT OR NOT IS_ABSOLUTE "${libc}")
  message(STATUS "lamina: no static file (libz.a, libexpat.a or libc.a is missing)")
  return()
endif()
add_library(lamina_static_parts OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/static_fmt.cc
            ${PROJECT_SOURCE_DIR}/lamina/backend/cpu/predict_targets.cc
            ${PROJECT_SOURCE_DIR}/cmake/static_terminate.cc ${PROJECT_SOURCE_DIR}/lamina/platform/no_shared_library.cc)
target_include_directories(lamina_static_parts PRIVATE ${PROJECT_SOURCE_DIR}
                           $<TARGET_PROPERTY:lamina::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
# Without transitive libraries: those would be the shared ones.
add_executable(lamina_static $<TARGET_OBJECTS:lamina_cli> $<TARGET_OBJECTS:lamina_static_parts>)
add_dependencies(lamina_static lamina lamina_study lamina_serve)
set_target_properties(lamina_static PROPERTIES OUTPUT_NAME lamina-static LINKER_LANGUAGE CXX
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_options(lamina_static PRIVATE -static-pie -Wl,--gc-sections -Wl,-z,relro,-z,now,-z,noexecstack)
# A pointer that is set when it starts takes a bit instead of 24 bytes, where linker and C library know how: 0.28 MB.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_FLAGS -fPIE)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie -Wl,-z,pack-relative-relocs,--fatal-warnings)
check_cxx_source_runs("int a; int* volatile p = &a; int main() { return *p; }" LAMINA_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(LAMINA_PACKED_RELOCATIONS)
  target_link_options(lamina_static PRIVATE -Wl,-z,pack-relative-relocs)
endif()
target_link_libraries(lamina_static PRIVATE $<TARGET_FILE:lamina_study> $<TARGET_FILE:lamina_serve> $<TARGET_FILE:lamina> ${LAMINA_STATIC_EXPAT}
                      ${LAMINA_STATIC_ZLIB})
