# add_example(NAME SOURCES …): a program that uses the dispatcher, on the backend BACKEND.
set(BACKEND cuda CACHE STRING "Where the example computes: cuda or cpu")
find_package(tuner 0.2 REQUIRED COMPONENTS dispatch)

function(add_example name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  target_link_libraries(${name} PRIVATE tuner::dispatch)
  if(BACKEND STREQUAL "cuda")
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${name} PRIVATE CUDA::cudart)
    target_compile_definitions(${name} PRIVATE EXAMPLE_ON_CUDA)
  endif()
endfunction()
