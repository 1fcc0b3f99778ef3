# What lamina links, for Windows: fmt, Highway and expat, which Debian has for this machine alone, are compiled in; zlib comes
# from Debian's MinGW packages. Included in the place of the searches of dependencies.cmake.
enable_language(C RC)
set(LAMINA_EXPAT_SOURCE "" CACHE PATH "The folder expat/lib of expat's sources (scripts/windows fetches them)")
if(NOT EXISTS ${LAMINA_EXPAT_SOURCE}/xmlparse.c)
  message(FATAL_ERROR "LAMINA_EXPAT_SOURCE names no folder with expat's xmlparse.c: scripts/windows fetches it and builds.")
endif()
set(FAST_FLOAT_INCLUDE ${LAMINA_LINKED_HEADERS})
set(NANOFLANN_INCLUDE ${LAMINA_LINKED_HEADERS})
include_directories(SYSTEM ${LAMINA_LINKED_HEADERS})
add_compile_definitions(_WIN32_WINNT=0x0A00 NOMINMAX)  # Windows 10

add_library(lamina_windows_parts STATIC cmake/static_fmt.cc lamina/backend/cpu/predict_targets.cc)
target_include_directories(lamina_windows_parts PRIVATE ${PROJECT_SOURCE_DIR})
foreach(part fmt::fmt lamina::hwy)
  add_library(${part} INTERFACE IMPORTED)
  set_target_properties(${part} PROPERTIES INTERFACE_LINK_LIBRARIES lamina_windows_parts)
endforeach()
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
if(EXISTS ${LAMINA_LINKED_HEADERS}/boost/beast/http.hpp)
  add_library(lamina::beast INTERFACE IMPORTED)
  set_target_properties(lamina::beast PROPERTIES INTERFACE_LINK_LIBRARIES "ws2_32;mswsock")
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/expat/expat_config.h
     CONTENT "#define BYTEORDER 1234\n#define XML_CONTEXT_BYTES 1024\n#define XML_DTD 1\n#define XML_NS 1\n")
add_library(lamina_windows_expat STATIC ${LAMINA_EXPAT_SOURCE}/xmlparse.c ${LAMINA_EXPAT_SOURCE}/xmlrole.c ${LAMINA_EXPAT_SOURCE}/xmltok.c)
target_compile_definitions(lamina_windows_expat PUBLIC XML_STATIC)
target_include_directories(lamina_windows_expat SYSTEM PUBLIC ${LAMINA_EXPAT_SOURCE} PRIVATE ${PROJECT_BINARY_DIR}/expat)
target_compile_options(lamina_windows_expat PRIVATE -w)
add_library(EXPAT::EXPAT INTERFACE IMPORTED)
set_target_properties(EXPAT::EXPAT PROPERTIES INTERFACE_LINK_LIBRARIES lamina_windows_expat)

find_library(LAMINA_WINDOWS_ZLIB libz.a REQUIRED)
find_path(LAMINA_WINDOWS_ZLIB_INCLUDE zlib.h REQUIRED)
add_library(ZLIB::ZLIB STATIC IMPORTED)
set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION ${LAMINA_WINDOWS_ZLIB})
target_link_libraries(lamina_windows_parts INTERFACE psapi synchronization ws2_32)
