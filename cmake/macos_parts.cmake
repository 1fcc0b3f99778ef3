# What lamina links where it is cross-compiled for macOS (cmake/macos.cmake), all compiled in; zlib and expat from Debian's
# sources, which scripts/macos fetches.
enable_language(C)
set(LAMINA_MACOS_SOURCES "" CACHE PATH "Folder with the sources of zlib and expat")
set(zlib ${LAMINA_MACOS_SOURCES}/zlib)
set(expat ${LAMINA_MACOS_SOURCES}/expat/expat/lib)
if(NOT EXISTS ${zlib}/inflate.c OR NOT EXISTS ${expat}/xmlparse.c)
  message(FATAL_ERROR "LAMINA_MACOS_SOURCES has no sources of zlib and expat: scripts/macos fetches them and builds.")
endif()
set(FAST_FLOAT_INCLUDE ${LAMINA_MACOS_HEADERS})
set(NANOFLANN_INCLUDE ${LAMINA_MACOS_HEADERS})
include_directories(SYSTEM ${LAMINA_MACOS_HEADERS})
add_library(lamina_macos_parts STATIC cmake/static_fmt.cc lamina/backend/cpu/predict_targets.cc)
target_link_libraries(lamina_macos_parts INTERFACE ${PROJECT_SOURCE_DIR}/cmake/libiconv.tbd)
target_include_directories(lamina_macos_parts PRIVATE ${PROJECT_SOURCE_DIR})
foreach(part fmt::fmt lamina::hwy)
  add_library(${part} INTERFACE IMPORTED)
  set_target_properties(${part} PROPERTIES INTERFACE_LINK_LIBRARIES lamina_macos_parts)
endforeach()
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
add_library(lamina::beast INTERFACE IMPORTED)
set_target_properties(lamina::beast PROPERTIES INTERFACE_COMPILE_DEFINITIONS BOOST_ASIO_HAS_STD_INVOKE_RESULT)  # Boost 1.74 takes clang for older
add_compile_definitions(FLT_RADIX=__FLT_RADIX__)  # zig 0.17: <cfloat> after <cmath> tells it not

file(GLOB zlib_sources ${zlib}/*.c)
add_library(lamina_macos_zlib STATIC ${zlib_sources})
target_include_directories(lamina_macos_zlib SYSTEM PUBLIC ${zlib})
target_compile_definitions(lamina_macos_zlib PRIVATE HAVE_UNISTD_H fdopen=fdopen)  # else it takes this system for Mac OS 9
target_compile_options(lamina_macos_zlib PRIVATE -w)
add_library(ZLIB::ZLIB INTERFACE IMPORTED)
set_target_properties(ZLIB::ZLIB PROPERTIES INTERFACE_LINK_LIBRARIES lamina_macos_zlib)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/expat/expat_config.h
     CONTENT "#define BYTEORDER 1234\n#define XML_CONTEXT_BYTES 1024\n#define XML_DTD 1\n#define XML_NS 1\n#define HAVE_ARC4RANDOM_BUF 1\n")
add_library(lamina_macos_expat STATIC ${expat}/xmlparse.c ${expat}/xmlrole.c ${expat}/xmltok.c)
target_include_directories(lamina_macos_expat SYSTEM PUBLIC ${expat} PRIVATE ${PROJECT_BINARY_DIR}/expat)
target_compile_options(lamina_macos_expat PRIVATE -w)
add_library(EXPAT::EXPAT INTERFACE IMPORTED)
set_target_properties(EXPAT::EXPAT PROPERTIES INTERFACE_LINK_LIBRARIES lamina_macos_expat)
