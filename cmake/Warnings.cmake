# The project's own warnings; linked privately, so they never reach a consumer. Errors only in the
# presets that set CMAKE_COMPILE_WARNING_AS_ERROR.
add_library(tuner_warnings INTERFACE)
target_compile_options(tuner_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>)
# g++ 12 sees overlapping and too large copies in ordinary std::string concatenation (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tuner_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread>)
endif()
