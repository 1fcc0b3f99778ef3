# What can be switched. AUTO uses a part where it is found and says so; ON fails loudly where it is not.
foreach(part BLAS CUDA GUI SERVE TESTS)
  set(LAMINA_${part} AUTO CACHE STRING "Use ${part}: AUTO, ON or OFF")
  set_property(CACHE LAMINA_${part} PROPERTY STRINGS AUTO ON OFF)
endforeach()
option(LAMINA_APPS "Build the programs" ON)
option(LAMINA_BENCH "Build the micro-benchmarks (Google Benchmark)" OFF)
option(LAMINA_RELEASE "As packages are built: hardened, and the same bits from every folder" OFF)
option(LAMINA_COMPILED_IN "fmt and Highway compiled in, whose library names change with each release of a system" OFF)
option(LAMINA_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
option(LAMINA_UNITY "Compile several sources of a folder at a time (cmake/unity.cmake)" ON)
set(LAMINA_UNITY_FILES 24 CACHE STRING "How many at most")
option(LAMINA_ONE_TARGET "Kernels for AVX2 alone (elsewhere: for what the compiler may assume), for builds that are tested and not used" OFF)
set(LAMINA_KERNELS all CACHE STRING "Instruction sets that kernels are compiled for: all, or the best of this machine's processor (native)")
set_property(CACHE LAMINA_KERNELS PROPERTY STRINGS all native)
set(LAMINA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

if(LAMINA_RELEASE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections>)  # what no program needs is left out where it is linked
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.;-ffile-prefix-map=${PROJECT_BINARY_DIR}=./build>")
  add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>" -Wl,-z,relro,-z,now,-z,noexecstack)
  # Functions of like names, as those of one kernel, stand together: a shared library packs 7 % smaller.
  add_link_options(-Wl,--gc-sections,--sort-section=name)
endif()
if(LAMINA_ONE_TARGET)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-march=haswell;-maes>")  # all that Highway's AVX2 means
  endif()
endif()
if(LAMINA_FUZZ)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link;SHELL:-include ${PROJECT_SOURCE_DIR}/tests/fuzz/source_location.h>")
endif()
if(LAMINA_SANITIZE)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${LAMINA_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  if(LAMINA_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_definitions(__SANITIZE_ADDRESS__)  # as g++ says it
  endif()
  if(LAMINA_SANITIZE MATCHES undefined)  # checks at every pointer, of what address sees or the system does: half the compiling
    add_compile_options(
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr,pointer-overflow,nonnull-attribute,returns-nonnull-attribute>")
  endif()
  add_link_options(-fsanitize=${LAMINA_SANITIZE})
endif()

# The same sources once more, so not where it is the others that are tested.
set(predict_wanted ON)
if(LAMINA_SANITIZE OR LAMINA_FUZZ OR NOT LAMINA_APPS OR NOT LAMINA_KERNELS STREQUAL "all" OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(predict_wanted OFF)
endif()
option(LAMINA_PREDICT "Build liblamina_predict, which only answers" ${predict_wanted})
