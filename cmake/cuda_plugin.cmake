# A plug-in NAME of backend cuda, lamina_cuda.so in FOLDER, made of the library CUDA. What it has of lamina's library is its own: nothing
# but one function is seen from outside.
function(lamina_cuda_plugin name cuda folder)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc "// All of it is in the libraries.\n")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.map "{ global: LaminaCudaFunctions; local: *; };")
  add_library(${name} MODULE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME lamina_cuda LIBRARY_OUTPUT_DIRECTORY ${folder} LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE ${cuda} lamina::lamina)
  target_link_options(${name} PRIVATE -Wl,-u,LaminaCudaFunctions -Wl,--gc-sections -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
endfunction()
