# Cross-compiles lamina.exe for 64-bit Windows with Debian's MinGW: preset windows (scripts/windows). The reasons stand in
# docs/decisions/0082-windows.md. What has headers alone is read from Debian's packages for this machine, through links in a
# folder of their own: beside them are the headers of another C library.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(LAMINA_WINDOWS_HEADERS ${CMAKE_BINARY_DIR}/headers)
if(CMAKE_BINARY_DIR MATCHES "CMakeFiles/CMakeTmp|CMakeScratch")  # of a trial
  return()
endif()
foreach(name hwy nlohmann CLI toml++ fast_float nanoflann.hpp boost fmt)
  if(EXISTS /usr/include/${name} AND NOT EXISTS ${LAMINA_WINDOWS_HEADERS}/${name})
    file(MAKE_DIRECTORY ${LAMINA_WINDOWS_HEADERS})
    file(CREATE_LINK /usr/include/${name} ${LAMINA_WINDOWS_HEADERS}/${name} SYMBOLIC)
  endif()
endforeach()
# Windows keeps stacks at 16 bytes, and g++ takes vectors in them for aligned all the same (its bug 54412): moves that need
# no alignment, which cost nothing on processors that have AVX. More sections than the usual object has, too.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move,-mbig-obj")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,--gc-sections,--no-insert-timestamp,-u,mbrtowc")
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR wine64)
