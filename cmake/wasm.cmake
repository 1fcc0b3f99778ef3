# Compiles the library to WebAssembly with Debian's emscripten: preset wasm (scripts/web). The reasons stand in
# docs/decisions/0083-web.md. What has headers alone is read from Debian's packages for this machine, through links in a folder
# of their own: beside them are the headers of another C library. scripts/web says where emscripten is.
if(NOT DEFINED ENV{LAMINA_EMSCRIPTEN})
  message(FATAL_ERROR "lamina: LAMINA_EMSCRIPTEN names no emscripten 3.1.69 or newer: scripts/web finds one and builds")
endif()
include($ENV{LAMINA_EMSCRIPTEN}/cmake/Modules/Platform/Emscripten.cmake)
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
# Vectors of 128 bits, threads, and exceptions by the browser's own instructions.
set(CMAKE_C_FLAGS_INIT "-msimd128 -pthread")
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -pthread -fwasm-exceptions")
