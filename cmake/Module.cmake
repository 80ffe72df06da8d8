# precompile(TARGET OWNER HEADER): the target reads HEADER precompiled. OWNER, one of the targets that
# are compiled with the same options, makes it for all of them.
function(precompile target owner header)
  if(NOT TUNER_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/${header}")
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# tuner_module(NAME [ALONE] [COLD] SOURCES … HEADERS … MODULES … LIBRARIES …): the static library tuner_NAME of one
# module of tuner/, with the modules it may use (the table in ARCHITECTURE.md) and the third-party
# libraries that only its .cpp files see. HEADERS are what other modules may include and what is
# installed; the module's other headers are its own. Applications know it as tuner::NAME, or as
# tuner::EXPORT_NAME. ALONE: without the precompiled header, and so without what it includes.
# COLD: nobody waits for its loops; a Release build compiles it with -O1, in three fifths of the time.
function(tuner_module name)
  cmake_parse_arguments(arg "ALONE;COLD" "EXPORT_NAME" "SOURCES;HEADERS;MODULES;LIBRARIES" ${ARGN})
  if(NOT arg_EXPORT_NAME)
    set(arg_EXPORT_NAME ${name})
  endif()
  add_library(tuner_${name} STATIC ${arg_SOURCES})
  add_library(tuner::${arg_EXPORT_NAME} ALIAS tuner_${name})
  set_target_properties(tuner_${name} PROPERTIES EXPORT_NAME ${arg_EXPORT_NAME}
                        UNITY_BUILD ${TUNER_UNITY} UNITY_BUILD_BATCH_SIZE 24)
  target_sources(tuner_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
                                      FILES ${arg_HEADERS})
  target_compile_features(tuner_${name} PUBLIC cxx_std_20)
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(tuner_${name} PUBLIC ${arg_MODULES}
                        PRIVATE ${arg_LIBRARIES}
                                $<BUILD_INTERFACE:tuner_warnings> $<BUILD_INTERFACE:tuner_hardening>)
  if(arg_COLD)
    target_compile_options(tuner_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT arg_ALONE)
    precompile(tuner_${name} tuner_core precompiled.hpp)
  endif()
endfunction()

# tuner_door(NAME MODULES …): tuner::NAME, through which an application gets several modules at once.
function(tuner_door name)
  cmake_parse_arguments(arg "" "" "MODULES" ${ARGN})
  add_library(tuner_${name} INTERFACE)
  add_library(tuner::${name} ALIAS tuner_${name})
  set_target_properties(tuner_${name} PROPERTIES EXPORT_NAME ${name})
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(tuner_${name} INTERFACE ${arg_MODULES})
endfunction()

# tuner_shared_library(NAME HEADERS … EXPORTS FILE): tuner::NAME, the shared library libtuner_NAME.so
# of the module NAME and all behind it. Of its symbols it shows those that the version script FILE
# lists; what it was made of, third-party libraries too, cannot clash with an application's own.
function(tuner_shared_library name)
  cmake_parse_arguments(arg "" "EXPORTS" "HEADERS" ${ARGN})
  cmake_path(ABSOLUTE_PATH arg_EXPORTS)
  set(target tuner_${name}_shared)
  add_library(${target} SHARED)
  add_library(tuner::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name} OUTPUT_NAME tuner_${name} LINKER_LANGUAGE CXX
    VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
    LINK_DEPENDS "${arg_EXPORTS}")
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
                                  FILES ${arg_HEADERS})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tuner_${name}>
                        $<BUILD_INTERFACE:tuner_hardening>)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${arg_EXPORTS},--no-undefined")
endfunction()

# tuner_tests(NAME SOURCES … MODULES … LIBRARIES … LABELS …): the GoogleTest program NAME_tests,
# each of its tests a CTest.
function(tuner_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name}_tests ${arg_SOURCES})
  set_target_properties(${name}_tests PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
                        UNITY_BUILD ${TUNER_UNITY} UNITY_BUILD_BATCH_SIZE 24)
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(${name}_tests PRIVATE ${arg_MODULES} ${arg_LIBRARIES} GTest::gmock_main
                        tuner_warnings)
  target_compile_options(${name}_tests PRIVATE ${TUNER_TEST_OPTIONS})
  precompile(${name}_tests core_tests precompiled_tests.hpp)
  target_compile_definitions(${name}_tests PRIVATE
    TUNER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TUNER_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    TUNER_TEST_CACHE="${PROJECT_BINARY_DIR}/test-cache/tune/binaries")
  # PRE_TEST: a program is asked for its tests when CTest runs, not while it is built.
  gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS "${arg_LABELS}")
endfunction()
