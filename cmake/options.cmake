# What can be switched. AUTO uses a part where it is found and says so; ON fails loudly where it is not.
foreach(part ONEDNN BLAS CUDA GUI TESTS)
  set(LAMINA_${part} AUTO CACHE STRING "Use ${part}: AUTO, ON or OFF")
  set_property(CACHE LAMINA_${part} PROPERTY STRINGS AUTO ON OFF)
endforeach()
option(LAMINA_APPS "Build the programs" ON)
option(LAMINA_BENCH "Build the micro-benchmarks (Google Benchmark)" OFF)
option(LAMINA_UNITY "Compile several sources of a folder at a time (cmake/unity.cmake)" ON)
set(LAMINA_UNITY_FILES 8 CACHE STRING "How many")
set(LAMINA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

if(LAMINA_SANITIZE)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${LAMINA_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  if(LAMINA_SANITIZE MATCHES undefined)  # checks at every pointer, of what address sees or the system does
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr>")
  endif()
  add_link_options(-fsanitize=${LAMINA_SANITIZE})
endif()
