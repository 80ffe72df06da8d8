# tuner.spdx.json: what of other projects is inside each installed program and shared library, in
# SPDX 2.3, as their link libraries say, with the texts of their licences in licenses/. A library
# that is linked and not named here is an error.
set(sbom_packages "")       # JSON of each, separated by commas
set(sbom_relationships "")  # likewise
set(sbom_known "")          # names that have a package

function(header_version out regex)  # its groups, joined by dots, from the files that follow
  set(version "")
  foreach(file IN LISTS ARGN)
    file(STRINGS "${file}" lines REGEX "${regex}")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "${regex}" matched "${line}")
      list(APPEND version "${CMAKE_MATCH_1}")
    endforeach()
  endforeach()
  list(JOIN version "." version)
  string(REPLACE "_" "." version "${version}")
  if(NOT version)
    message(FATAL_ERROR "cmake/Sbom.cmake finds no version in ${ARGN}")
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# third_party(NAME VERSION LICENCE [TEXTS FILE …] [TARGETS TARGET …]): what is inside whatever links
# one of the targets, and the files that must go with copies of it.
function(third_party name version licence)
  cmake_parse_arguments(arg "" "" "TEXTS;TARGETS" ${ARGN})
  foreach(target IN LISTS arg_TARGETS)
    set(sbom_of_${target} "${name}" PARENT_SCOPE)
  endforeach()
  set(sbom_texts_${name} "${arg_TEXTS}" PARENT_SCOPE)
  set(sbom_version_${name} "${version}" PARENT_SCOPE)
  set(sbom_licence_${name} "${licence}" PARENT_SCOPE)
endfunction()

get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
get_target_property(json_include nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
find_path(sqlitecpp_include SQLiteCpp/SQLiteCpp.h REQUIRED NO_CACHE)
pkg_check_modules(libmd REQUIRED QUIET libmd)
header_version(json_version "#define NLOHMANN_JSON_VERSION_[MP][A-Z]+ ([0-9]+)" "${json_include}/nlohmann/detail/abi_macros.hpp")
header_version(sqlitecpp_version "#define SQLITECPP_VERSION +\"([0-9.]+)\"" "${sqlitecpp_include}/SQLiteCpp/SQLiteCpp.h")
header_version(sqlite_version "#define SQLITE_VERSION +\"([0-9.]+)\"" "${SQLite3_INCLUDE_DIRS}/sqlite3.h")
header_version(xxhash_version "#define XXH_VERSION_[MR][A-Z]+ +([0-9]+)" "${TUNER_XXHASH_INCLUDE}/xxhash.h")
set(doc /usr/share/doc)  # where Debian's packages have them
third_party(fmt "${fmt_VERSION}" "MIT" TEXTS ${doc}/libfmt-dev/copyright TARGETS fmt::fmt)
third_party(nlohmann-json "${json_version}" "MIT"
            TEXTS ${doc}/nlohmann-json3-dev/copyright TARGETS nlohmann_json::nlohmann_json)
third_party(SQLite "${sqlite_version}" "blessing" TEXTS ${doc}/libsqlite3-dev/copyright TARGETS SQLite::SQLite3)
third_party(SQLiteCpp "${sqlitecpp_version}" "MIT" TEXTS ${doc}/libsqlitecpp-dev/copyright TARGETS SQLiteCpp)
third_party(Boost.Context "${Boost_VERSION_STRING}" "BSL-1.0"
            TEXTS ${doc}/libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev/copyright TARGETS Boost::context)
third_party(libmd "${libmd_VERSION}" "BSD-3-Clause" TEXTS ${doc}/libmd-dev/copyright TARGETS "${TUNER_MD_LIBRARY}")
third_party(xxHash "${xxhash_version}" "BSD-2-Clause"
            TEXTS ${doc}/libxxhash-dev/copyright TARGETS tuner_core)  # a header of its own
if(TUNER_CLI)
  third_party(CLI11 "${CLI11_VERSION}" "BSD-3-Clause" TEXTS ${doc}/libcli11-dev/copyright TARGETS CLI11::CLI11)
endif()
if(TUNER_CUDA)  # the Toolkit brings no text; the document below names it
  third_party(cudart "${CUDAToolkit_VERSION}" "LicenseRef-NVIDIA-CUDA" TARGETS CUDA::cudart_static)
endif()
# Linked as shared libraries, of which nothing is inside; options.
set(sbom_nothing Threads::Threads ${CMAKE_DL_LIBS} tuner_warnings tuner_hardening)

function(sbom_package name version licence)
  if(name IN_LIST sbom_known)
    return()
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "${name}")
  string(APPEND sbom_packages ",
    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"licenseConcluded\": \"${licence}\",
     \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\", \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false}")
  if(sbom_texts_${name})
    install(FILES ${sbom_texts_${name}} DESTINATION "${data}/licenses/${name}" COMPONENT data)
  endif()
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_known "${sbom_known};${name}" PARENT_SCOPE)
endfunction()

function(sbom_relationship from type to)
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" from "${from}")
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" to "${to}")
  string(APPEND sbom_relationships ",
    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${type}\", \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
  set(sbom_relationships "${sbom_relationships}" PARENT_SCOPE)
endfunction()

# What a target links, without the generator expressions around it.
function(without_conditions out libraries)
  foreach(depth RANGE 2)
    string(REGEX REPLACE "\\$<(BUILD_INTERFACE:|LINK_ONLY:|LINK_LIBRARY:WHOLE_ARCHIVE,)([^<>]*)>" "\\2" libraries "${libraries}")
  endforeach()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# The names of what is inside a target.
function(embedded_in out target)
  set(names "")
  set(seen "")
  set(left ${target})
  while(left)
    list(POP_FRONT left next)
    if(TARGET "${next}")
      get_target_property(real "${next}" ALIASED_TARGET)
      if(real)
        set(next "${real}")
      endif()
    endif()
    if(next IN_LIST seen OR next IN_LIST sbom_nothing)
      continue()
    endif()
    list(APPEND seen "${next}")
    if(DEFINED sbom_of_${next})
      list(APPEND names "${sbom_of_${next}}")
    endif()
    if(next MATCHES "^tuner_")
      foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(libraries "${next}" ${property})
        if(libraries)
          without_conditions(libraries "${libraries}")
          list(APPEND left ${libraries})
        endif()
      endforeach()
    elseif(NOT DEFINED sbom_of_${next} AND NOT next STREQUAL target)
      message(FATAL_ERROR "cmake/Sbom.cmake does not know what ${next} is, which is inside ${target}")
    endif()
  endwhile()
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# sbom_file(NAME TARGET …): an installed file, and more names of what is inside.
macro(sbom_file name target)
  sbom_package("${name}" "${PROJECT_VERSION}" "Apache-2.0")
  sbom_relationship(DOCUMENT DESCRIBES "${name}")
  get_target_property(libraries ${target} LINK_LIBRARIES)
  without_conditions(libraries "${libraries}")
  set(inside ${ARGN})
  foreach(library IN LISTS libraries)
    embedded_in(names "${library}")
    list(APPEND inside ${names})
  endforeach()
  list(REMOVE_DUPLICATES inside)
  list(SORT inside)
  foreach(part IN LISTS inside)
    sbom_package("${part}" "${sbom_version_${part}}" "${sbom_licence_${part}}")
    sbom_relationship("${name}" CONTAINS "${part}")
  endforeach()
endmacro()

sbom_file(libtuner_dispatch.so tuner_dispatch_shared)
if(TARGET tuner_compile)
  sbom_file(tuner-compile tuner_compile)
endif()
if(TARGET tuner_cublas_shared)
  string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
  third_party(libstdc++ "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1"
              TEXTS ${doc}/gcc-${gcc}-base/copyright)
  sbom_file(libtuner_cublas.so tuner_cublas_shared libstdc++)
  sbom_file(libtuner_capture.so tuner_capture_shared libstdc++)
endif()
if(TARGET tune)
  set(in_script "")
  if(NOT TUNER_REPORT_JS STREQUAL "none")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS reports/package-lock.json)
    file(READ reports/package-lock.json lock)
    if(TUNER_REPORT_JS STREQUAL "npm")
      set(texts_echarts LICENSE NOTICE licenses/LICENSE-d3)
      set(texts_zrender LICENSE)
      set(texts_tslib LICENSE.txt)
      foreach(part echarts zrender tslib)
        list(TRANSFORM texts_${part} PREPEND "${TUNER_REPORT_NODE_DIRECTORY}/node_modules/${part}/")
      endforeach()
    endif()
    foreach(part echarts zrender tslib)
      string(JSON version GET "${lock}" packages "node_modules/${part}" version)
      string(JSON licence GET "${lock}" packages "node_modules/${part}" license)
      third_party(${part} "${version}" "${licence}" TEXTS ${texts_${part}})
      list(APPEND in_script ${part})
    endforeach()
  endif()
  sbom_file(tune tune ${in_script})
endif()

string(SUBSTRING "${sbom_packages}" 1 -1 sbom_packages)
string(SUBSTRING "${sbom_relationships}" 1 -1 sbom_relationships)
string(UUID sbom_id NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 NAME "${sbom_packages}${sbom_relationships}" TYPE SHA1)
string(TIMESTAMP sbom_created "%Y-%m-%dT%H:%M:%SZ" UTC)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tuner.spdx.json" @ONLY CONTENT [=[
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "tuner-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/tuner-@PROJECT_VERSION@-@sbom_id@",
  "creationInfo": {"created": "@sbom_created@", "creators": ["Tool: tuner-@PROJECT_VERSION@"]},
  "hasExtractedLicensingInfos": [
    {"licenseId": "LicenseRef-NVIDIA-CUDA", "name": "NVIDIA CUDA Toolkit End User License Agreement",
     "extractedText": "https://docs.nvidia.com/cuda/eula/"}],
  "packages": [@sbom_packages@],
  "relationships": [@sbom_relationships@]
}
]=])
