# tuner_module(NAME SOURCES … MODULES … LIBRARIES …): the static library tuner_NAME of one module
# of tuner/, with the modules it may use (the table in ARCHITECTURE.md) and the third-party
# libraries that only its .cpp files see.
function(tuner_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  add_library(tuner_${name} STATIC ${arg_SOURCES})
  add_library(tuner::${name} ALIAS tuner_${name})
  set_target_properties(tuner_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(tuner_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                  $<INSTALL_INTERFACE:include>)
  target_compile_features(tuner_${name} PUBLIC cxx_std_20)
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(tuner_${name} PUBLIC ${arg_MODULES}
                        PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:tuner_warnings>)
  set_property(GLOBAL APPEND PROPERTY TUNER_MODULES ${name})
endfunction()

# tuner_tests(NAME SOURCES … MODULES … LIBRARIES … LABELS …): the GoogleTest program NAME_tests,
# each of its tests a CTest.
function(tuner_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name}_tests ${arg_SOURCES})
  set_target_properties(${name}_tests PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(${name}_tests PRIVATE ${arg_MODULES} ${arg_LIBRARIES} GTest::gmock_main
                        tuner_warnings)
  target_compile_definitions(${name}_tests PRIVATE
    TUNER_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TUNER_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  # PRE_TEST: a program is asked for its tests when CTest runs, not while it is built.
  gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS "${arg_LABELS}")
endfunction()
