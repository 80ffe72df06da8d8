set(counters OFF)
if(TUNER_CUPTI_INCLUDE)
  set(counters ON)
endif()
message(STATUS "tuner ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, CUDA backend ${TUNER_CUDA} ${CUDAToolkit_VERSION}, hardware counters ${counters}"
  ", tune program ${TUNER_CLI}, agents ${TUNER_CLUSTER}, tests ${TUNER_TESTS}, report script ${TUNER_REPORT_JS}")
