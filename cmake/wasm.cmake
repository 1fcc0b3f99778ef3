# Compiles the library to WebAssembly with Debian's emscripten: preset wasm (scripts/web). The reasons stand in
# docs/decisions/0083-web.md. What has headers alone is read from Debian's packages for this machine, through links in a folder
# of their own: beside them are the headers of another C library.
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(LAMINA_WASM_HEADERS ${CMAKE_BINARY_DIR}/headers)
if(CMAKE_BINARY_DIR MATCHES "CMakeFiles/CMakeTmp|CMakeScratch")  # of a trial
  return()
endif()
foreach(name nlohmann fast_float nanoflann.hpp fmt)
  if(EXISTS /usr/include/${name} AND NOT EXISTS ${LAMINA_WASM_HEADERS}/${name})
    file(MAKE_DIRECTORY ${LAMINA_WASM_HEADERS})
    file(CREATE_LINK /usr/include/${name} ${LAMINA_WASM_HEADERS}/${name} SYMBOLIC)
  endif()
endforeach()
# What emscripten's standard library lacks: the file for the fuzzers' compiler serves here, too.
if(NOT EXISTS ${LAMINA_WASM_HEADERS}/source_location)
  file(CREATE_LINK ${CMAKE_CURRENT_LIST_DIR}/../tests/fuzz/source_location.h ${LAMINA_WASM_HEADERS}/source_location SYMBOLIC)
endif()
# Vectors of 128 bits, and exceptions by the browser's own instructions.
set(CMAKE_C_FLAGS_INIT "-msimd128")
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -fwasm-exceptions")
