# What a build can be asked for. As a subproject only the libraries are built, and nothing of the
# surrounding build is changed.
option(TUNER_CUDA "Build the CUDA backend (needs the CUDA Toolkit; no driver, no GPU)" ON)
option(TUNER_CLI "Build the tune program" ${PROJECT_IS_TOP_LEVEL})
option(TUNER_CLUSTER "Build the agents of other machines: tune --launch" ON)
option(TUNER_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TUNER_FUZZ "Build the libFuzzer targets (needs clang; the preset `fuzz`)" OFF)
option(TUNER_INSTALL "Generate install rules" ${PROJECT_IS_TOP_LEVEL})
option(TUNER_HARDENING "Compile and link with the compiler's protections against memory errors" ON)
option(TUNER_PRECOMPILE "Read third-party headers once, as precompiled headers" ON)
option(TUNER_UNITY "Compile a module's sources several at a time: a whole build takes a third of the time, one after a change more" OFF)
set(TUNER_TEST_OPTIONS "" CACHE STRING "Options of the compiler for the programs of the tests alone")
# Where Debian's Python looks, below /usr; below another prefix PYTHONPATH must name it.
set(TUNER_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING "Where the Python package is installed, below the prefix")
set(report_js npm)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(report_js none)
endif()
set(TUNER_REPORT_JS "${report_js}" CACHE STRING
    "Where the report's script comes from: 'npm' builds it, a path names one built before, 'none' leaves it out")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# g++ collects garbage from 128 MB on: a precompiled header is most of that, and it is then looked through again and again.
# A tenth of the time, a quarter more memory.
if(TUNER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=2000000>")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
