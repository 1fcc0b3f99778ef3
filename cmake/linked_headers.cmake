# For toolchains of other systems: what has headers alone is read from Debian's packages for this machine, through links in a
# folder of their own. Beside them are the headers of another C library.
set(LAMINA_LINKED_HEADERS ${CMAKE_BINARY_DIR}/headers)
set(LAMINA_TRIALS "CMakeFiles/CMakeTmp|CMakeScratch")
foreach(name hwy nlohmann CLI toml++ fast_float nanoflann.hpp boost fmt)
  if(EXISTS /usr/include/${name} AND NOT EXISTS ${LAMINA_LINKED_HEADERS}/${name} AND NOT CMAKE_BINARY_DIR MATCHES "${LAMINA_TRIALS}")
    file(MAKE_DIRECTORY ${LAMINA_LINKED_HEADERS})
    file(CREATE_LINK /usr/include/${name} ${LAMINA_LINKED_HEADERS}/${name} SYMBOLIC)
  endif()
endforeach()
