# Cross-compiles for macOS with the clang of PyPI's package ziglang, which brings Apple's headers and the names in its
# libraries: preset macos (scripts/macos). What has headers alone is read from Debian's packages for this machine, through
# links in a folder of their own: beside them are the headers of another C library.
set(CMAKE_SYSTEM_NAME Darwin)
set(LAMINA_MACOS_PROCESSOR aarch64 CACHE STRING "aarch64 or x86_64")
set(LAMINA_MACOS_TOOLS "" CACHE PATH "The folder with cc, c++, ar and ranlib for it, as scripts/macos makes them")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LAMINA_MACOS_PROCESSOR LAMINA_MACOS_TOOLS)
set(CMAKE_SYSTEM_PROCESSOR ${LAMINA_MACOS_PROCESSOR})
set(CMAKE_C_COMPILER ${LAMINA_MACOS_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${LAMINA_MACOS_TOOLS}/c++)
set(CMAKE_AR ${LAMINA_MACOS_TOOLS}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${LAMINA_MACOS_TOOLS}/ranlib CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL /bin/false CACHE FILEPATH "")  # nothing is installed here
set(CMAKE_FIND_ROOT_PATH ${LAMINA_MACOS_TOOLS})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(LAMINA_MACOS_HEADERS ${CMAKE_BINARY_DIR}/headers)
if(CMAKE_BINARY_DIR MATCHES "CMakeFiles/CMakeTmp|CMakeScratch")  # of a trial
  return()
endif()
foreach(name hwy nlohmann CLI toml++ fast_float nanoflann.hpp boost fmt)
  if(EXISTS /usr/include/${name} AND NOT EXISTS ${LAMINA_MACOS_HEADERS}/${name})
    file(MAKE_DIRECTORY ${LAMINA_MACOS_HEADERS})
    file(CREATE_LINK /usr/include/${name} ${LAMINA_MACOS_HEADERS}/${name} SYMBOLIC)
  endif()
endforeach()
