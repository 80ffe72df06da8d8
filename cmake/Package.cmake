# `cpack --config build/release/CPackConfig.cmake` makes tuner_VERSION_ARCHITECTURE.deb of what
# `cmake --install` installs, for /usr.
find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(NOT TUNER_CLI OR NOT dpkg_shlibdeps)
  return()
endif()
set(debian "${CMAKE_CURRENT_LIST_DIR}/debian")
configure_file("${debian}/shlibs.in" "${PROJECT_BINARY_DIR}/debian/shlibs" @ONLY)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "maintainers of tuner <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tuned launch configurations of CUDA kernels: search and dispatch")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${debian}/finish.cmake")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The program tune measures the launch configurations of a kernel, verifies them
and stores the fastest for each GPU and problem size. The dispatcher, a library
for C++, C and Python, launches them. Results for some GPUs are included.

Kernels run on a GPU with NVIDIA's driver, NVRTC and cuBLAS, which are opened
when they are needed, or on the CPU with g++ and OpenBLAS.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)  # finish.cmake asks: CPack starts two processes for each of the 530 files
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, libopenblas0, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, nlohmann-json3-dev")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${debian}/triggers" "${PROJECT_BINARY_DIR}/debian/shlibs")
include(CPack)
