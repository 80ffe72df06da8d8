message(STATUS "tuner ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, CUDA backend ${TUNER_CUDA}"
  ", tune program ${TUNER_CLI}, agents ${TUNER_CLUSTER}, tests ${TUNER_TESTS}, report script ${TUNER_REPORT_JS}")
