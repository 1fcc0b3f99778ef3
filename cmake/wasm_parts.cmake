# What lamina stands on where it is compiled to WebAssembly (included by dependencies.cmake): headers from Debian's packages,
# zlib, expat and Highway from their sources in LAMINA_WASM_SOURCES, which scripts/web fetches.
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH builds)
set(LAMINA_WASM_SOURCES ${builds}/wasm-sources CACHE PATH "Folder with the sources of zlib, expat and Highway")
foreach(name lamina::hwy nlohmann_json::nlohmann_json fmt::fmt)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${LAMINA_WASM_HEADERS})
endforeach()
set(FAST_FLOAT_INCLUDE ${LAMINA_WASM_HEADERS})
set(NANOFLANN_INCLUDE ${LAMINA_WASM_HEADERS})

enable_language(C)
set(zlib ${LAMINA_WASM_SOURCES}/zlib)
set(expat ${LAMINA_WASM_SOURCES}/expat/expat)
if(NOT EXISTS ${zlib}/inflate.c OR NOT EXISTS ${expat}/lib/xmlparse.c)
  message(FATAL_ERROR "lamina: no sources of zlib and expat in ${LAMINA_WASM_SOURCES}: scripts/web fetches them")
endif()
# Vectors of f64, which Highway 1.0.3 of Debian 12 does not have for WebAssembly.
file(CREATE_LINK ${LAMINA_WASM_SOURCES}/highway/hwy ${LAMINA_WASM_HEADERS}/hwy SYMBOLIC)
add_library(zlib STATIC EXCLUDE_FROM_ALL ${zlib}/adler32.c ${zlib}/crc32.c ${zlib}/inffast.c ${zlib}/inflate.c ${zlib}/inftrees.c
            ${zlib}/zutil.c)
target_include_directories(zlib PUBLIC ${zlib})
add_library(ZLIB::ZLIB ALIAS zlib)
add_library(expat STATIC EXCLUDE_FROM_ALL ${expat}/lib/xmlparse.c ${expat}/lib/xmlrole.c ${expat}/lib/xmltok.c)
target_include_directories(expat PUBLIC ${expat}/lib PRIVATE ${PROJECT_BINARY_DIR}/expat)
file(WRITE ${PROJECT_BINARY_DIR}/expat/expat_config.h "")  # what it says stands below
# No randomness for its hash table: one page reads one book, and its DTDs are refused.
target_compile_definitions(expat PRIVATE XML_NS XML_CONTEXT_BYTES=0 BYTEORDER=1234 XML_POOR_ENTROPY HAVE_MEMMOVE)
add_library(EXPAT::EXPAT ALIAS expat)
foreach(part BLAS GUI SERVE CUDA TESTS)
  set(LAMINA_HAVE_${part} FALSE)
endforeach()
