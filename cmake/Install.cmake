# `cmake --install` puts the program into bin/, the libraries with the headers of their interfaces
# where find_package(tuner) and pkg-config find them, the Python package where Debian's Python looks,
# and what the program reads into share/tuner/: the space files beside the kernels they name.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tuner")
set(data "${CMAKE_INSTALL_DATADIR}/tuner")

# install_door(DOOR MODULES …): the package's component DOOR.
function(install_door door)
  cmake_parse_arguments(arg "" "" "MODULES" ${ARGN})
  list(TRANSFORM arg_MODULES PREPEND tuner_)
  install(TARGETS tuner_${door} ${arg_MODULES} EXPORT tuner-${door}
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT tuner-${door} NAMESPACE tuner:: DESTINATION "${package}")
endfunction()

install_door(host MODULES core space blas counters search source family capture store interop select report)
set(backends backend_cpu)
if(TUNER_CUDA)
  list(APPEND backends backend_cuda)
endif()
if(TUNER_CLUSTER)
  set(cluster cluster)
endif()
install_door(device MODULES backend ${backends} verify measure worker ${cluster} session lab dispatch)

# The dispatcher is whole in itself: it asks for none of the other components.
install(TARGETS tuner_dispatch_shared EXPORT tuner-dispatch
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT tuner-dispatch NAMESPACE tuner:: DESTINATION "${package}")
if(TARGET tuner_cublas_shared)
  install(TARGETS tuner_cublas_shared tuner_capture_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET tuner_compile)  # which the library finds by its own path
  install(TARGETS tuner_compile RUNTIME DESTINATION libexec/tuner)
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/tuner-dispatch.pc.in"
               "${PROJECT_BINARY_DIR}/tuner-dispatch.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tuner-dispatch.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/tunerConfig.cmake.in" "${PROJECT_BINARY_DIR}/tunerConfig.cmake"
  INSTALL_DESTINATION "${package}" PATH_VARS data)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tunerConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tunerConfig.cmake"
              "${PROJECT_BINARY_DIR}/tunerConfigVersion.cmake" DESTINATION "${package}")

if(TUNER_CLI)
  install(TARGETS tune RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  set(described "${PROJECT_BINARY_DIR}/described")
  install(FILES "${described}/tune.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT data)
  install(FILES "${described}/tune.bash" RENAME tune
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT data)
  install(FILES "${described}/_tune" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT data)
  install(FILES "${described}/tune.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT data)
endif()
# The component is what a wheel has, too.
install(DIRECTORY kernels spaces docs examples DESTINATION "${data}" COMPONENT data USE_SOURCE_PERMISSIONS)
configure_file("${CMAKE_CURRENT_LIST_DIR}/InstalledDocs.cmake.in" "${PROJECT_BINARY_DIR}/InstalledDocs.cmake" @ONLY)
install(SCRIPT "${PROJECT_BINARY_DIR}/InstalledDocs.cmake" COMPONENT data)
# Found by the name of the device model (tuner/select/shipped_table.hpp).
install(DIRECTORY db/seed/ DESTINATION "${data}/tables" COMPONENT data FILES_MATCHING PATTERN "*.json")
install(DIRECTORY python/tuner DESTINATION "${TUNER_PYTHON_DIR}" FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
include(Sbom)
install(FILES LICENSE "${PROJECT_BINARY_DIR}/tuner.spdx.json" DESTINATION "${data}" COMPONENT data)
