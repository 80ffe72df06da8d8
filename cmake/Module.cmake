# tuner_module(NAME SOURCES … HEADERS … MODULES … LIBRARIES …): the static library tuner_NAME of one
# module of tuner/, with the modules it may use (the table in ARCHITECTURE.md) and the third-party
# libraries that only its .cpp files see. HEADERS are what other modules may include and what is
# installed; the module's other headers are its own.
function(tuner_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;MODULES;LIBRARIES" ${ARGN})
  add_library(tuner_${name} STATIC ${arg_SOURCES})
  add_library(tuner::${name} ALIAS tuner_${name})
  set_target_properties(tuner_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(tuner_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
                                      FILES ${arg_HEADERS})
  target_compile_features(tuner_${name} PUBLIC cxx_std_20)
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  target_link_libraries(tuner_${name} PUBLIC ${arg_MODULES}
                        PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:tuner_warnings>)
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
