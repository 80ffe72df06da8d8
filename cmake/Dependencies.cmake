# Every library the project uses, found once. docs/reference/dependencies.md says what each is for;
# scripts/install-deps.sh installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
# The archive where there is one: libtuner_dispatch.so takes it in, so that an application with a
# table compiled in needs no SQLite.
if(NOT TARGET SQLite::SQLite3)
  find_library(TUNER_SQLITE_LIBRARY NAMES libsqlite3.a sqlite3)
  set(SQLite3_LIBRARY "${TUNER_SQLITE_LIBRARY}")
endif()
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLiteCpp REQUIRED)
set(Boost_USE_STATIC_LIBS ON)  # likewise
find_package(Boost REQUIRED COMPONENTS context)
find_path(TUNER_XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(TUNER_MD_INCLUDE sha2.h REQUIRED)
find_library(TUNER_MD_LIBRARY NAMES libmd.a md REQUIRED)  # likewise
find_package(PkgConfig REQUIRED)
pkg_check_modules(OpenBLAS REQUIRED IMPORTED_TARGET openblas)
if(TUNER_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(TUNER_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()

if(TUNER_CUDA)
  # The FindCUDAToolkit of Debian's CMake 3.25.1 sets a property of CUDA::nvToolsExt without looking
  # whether it found that library, which CUDA 13 no longer has.
  if(NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
  endif()
  set(oldest_toolkit 12.4)  # tuner/backend/cuda/versions.hpp
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR CUDAToolkit_VERSION VERSION_LESS oldest_toolkit)
    set(found "was not found")
    if(CUDAToolkit_FOUND)
      set(found "is needed: ${CUDAToolkit_INCLUDE_DIRS} is of ${CUDAToolkit_VERSION}")
    endif()
    message(FATAL_ERROR
      "The CUDA Toolkit (${oldest_toolkit} or newer) ${found}. Install NVIDIA's package 'cuda-toolkit' "
      "(https://developer.nvidia.com/cuda-downloads), or say where it is with "
      "-DCUDAToolkit_ROOT=/path, or build without the CUDA backend: -DTUNER_CUDA=OFF.")
  endif()
  find_path(TUNER_CUPTI_INCLUDE cupti_range_profiler.h
            HINTS ${CUDAToolkit_INCLUDE_DIRS} "${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include")
  if(NOT TUNER_CUPTI_INCLUDE AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.7)
    message(FATAL_ERROR
      "cupti_range_profiler.h of CUPTI was not found, which the CUDA Toolkit ${CUDAToolkit_VERSION} has. "
      "Install NVIDIA's package 'cuda-cupti-dev', or say where it is with -DTUNER_CUPTI_INCLUDE=/path.")
  endif()
endif()
