# The parts that lamina links, as imported targets; used by the build and by the installed package (laminaConfig.cmake),
# so that both look for them in the same way.

# lamina_find_part(TARGET NAMES... HEADER header [SUFFIXES folders...] [FATAL]): makes TARGET from a library and its header.
function(lamina_find_part target)
  cmake_parse_arguments(PARSE_ARGV 1 part "FATAL" "HEADER" "NAMES;SUFFIXES")
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "LAMINA_${target}" cache)
  find_library(${cache}_LIBRARY NAMES ${part_NAMES})
  find_path(${cache}_INCLUDE ${part_HEADER} PATH_SUFFIXES ${part_SUFFIXES})
  mark_as_advanced(${cache}_LIBRARY ${cache}_INCLUDE)
  if(${cache}_LIBRARY AND ${cache}_INCLUDE)
    add_library(${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${cache}_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${${cache}_INCLUDE})
  elseif(part_FATAL)
    message(FATAL_ERROR "lamina needs ${part_HEADER} and the library ${part_NAMES}; see docs/dependencies.md")
  endif()
endfunction()

macro(lamina_find_hwy)
  lamina_find_part(lamina::hwy NAMES hwy HEADER hwy/highway.h FATAL)
endmacro()
macro(lamina_find_cblas)
  lamina_find_part(lamina::cblas NAMES openblas cblas HEADER cblas.h SUFFIXES openblas ${ARGN})
endmacro()

# The toolkit where nvcc is on the PATH or in its usual place: language CUDA and CUDA::cudart_static. cuBLASLt is not
# linked: it is loaded at run time where it is installed.
macro(lamina_find_cuda driver)
  find_program(LAMINA_NVCC nvcc HINTS ENV CUDAToolkit_ROOT ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(LAMINA_NVCC)
  if(LAMINA_NVCC)
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${LAMINA_NVCC})
    endif()
    # One architecture, compiled by the driver for whatever is newer, and what only 9.0a has; the preset "packages"
    # names more.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80 90a-real)
      if(${driver})
        set(CMAKE_CUDA_ARCHITECTURES native)
      endif()
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know it of nvcc
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    find_package(CUDAToolkit REQUIRED)
  endif()
endmacro()
