# The program and the libraries as a Python wheel has them (scripts/wheel.sh): of the same archives as the installed ones,
# with {fmt} and the compiler's libraries inside, so that they run wherever the C library is new enough.
if(NOT TUNER_CLI OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
set(inside arc4random.cpp fmt_static.cpp)
list(TRANSFORM inside PREPEND "${PROJECT_SOURCE_DIR}/tuner/cublas/")

# portable(TARGET FOLDER): put into build/wheel/FOLDER.
function(portable target folder)
  target_sources(${target} PRIVATE ${inside})
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc "LINKER:--as-needed,--strip-all")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/wheel/${folder}"
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/wheel/${folder}")
endfunction()

add_executable(tune_portable "${PROJECT_SOURCE_DIR}/tuner/cli/main.cpp")
target_link_libraries(tune_portable PRIVATE tuner_cli fmt::fmt tuner_warnings tuner_hardening)
set_target_properties(tune_portable PROPERTIES OUTPUT_NAME tune)
portable(tune_portable bin)

set(exports "${PROJECT_SOURCE_DIR}/tuner/dispatch/exports.map")
add_library(tuner_dispatch_portable SHARED)
target_link_libraries(tuner_dispatch_portable PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tuner_dispatch> fmt::fmt tuner_hardening)
target_link_options(tuner_dispatch_portable PRIVATE "LINKER:--version-script=${exports},--no-undefined")
# A wheel has no links: the file bears the name that is opened.
set_target_properties(tuner_dispatch_portable PROPERTIES OUTPUT_NAME tuner_dispatch LINKER_LANGUAGE CXX LINK_DEPENDS "${exports}"
                      SUFFIX ".so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
portable(tuner_dispatch_portable lib)

if(TARGET tuner_compile)
  add_executable(tuner_compile_portable "${PROJECT_SOURCE_DIR}/tuner/backend/helper_main.cpp")
  target_link_libraries(tuner_compile_portable PRIVATE tuner_backend fmt::fmt tuner_warnings tuner_hardening)
  set_target_properties(tuner_compile_portable PROPERTIES OUTPUT_NAME tuner-compile)
  portable(tuner_compile_portable libexec/tuner)
endif()

add_custom_target(wheel DEPENDS tune tune_portable tuner_dispatch_portable)
if(TARGET tuner_compile)
  add_dependencies(wheel tuner_compile_portable tuner_cublas_shared tuner_capture_shared)
endif()
