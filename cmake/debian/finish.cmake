# What Debian's packages have beside the installed files, in the folder tree that CPack makes the
# package of: compressed man pages, changelogs, the licence, and what lintian need not say; what
# its programs and libraries are linked with.
set(root "${CPACK_TEMPORARY_DIRECTORY}/usr")
set(doc "${root}/share/doc/tuner")
file(MAKE_DIRECTORY "${doc}" "${root}/share/lintian/overrides")
configure_file("${CMAKE_CURRENT_LIST_DIR}/copyright" "${doc}/copyright" COPYONLY)
configure_file("${CMAKE_CURRENT_LIST_DIR}/overrides" "${root}/share/lintian/overrides/tuner" COPYONLY)
configure_file("${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md" "${doc}/CHANGELOG.md" COPYONLY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${CMAKE_CURRENT_LIST_DIR}/changelog.in" "${doc}/changelog" @ONLY)
file(GLOB pages "${root}/share/man/man*/*")
execute_process(COMMAND gzip -9nf ${pages} "${doc}/changelog" "${doc}/CHANGELOG.md" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE "${root}/share/tuner/LICENSE")

find_program(dpkg_shlibdeps dpkg-shlibdeps REQUIRED)
file(GLOB_RECURSE linked LIST_DIRECTORIES false "${root}/bin/*" "${root}/lib/*.so*" "${root}/libexec/*")
foreach(file IN LISTS linked)
  file(READ "${file}" magic LIMIT 4 HEX)
  if(NOT magic STREQUAL "7f454c46")  # ELF
    list(REMOVE_ITEM linked "${file}")
  endif()
endforeach()
file(WRITE "${CPACK_TEMPORARY_DIRECTORY}/debian/control" "")  # dpkg-shlibdeps looks for it
execute_process(COMMAND "${dpkg_shlibdeps}" --ignore-missing-info -O ${linked} WORKING_DIRECTORY "${CPACK_TEMPORARY_DIRECTORY}"
                OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_DEPENDS OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE problem
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "dpkg-shlibdeps: ${problem}")
endif()
file(REMOVE_RECURSE "${CPACK_TEMPORARY_DIRECTORY}/debian")
string(REGEX REPLACE "^.*Depends=" "" CPACK_DEBIAN_PACKAGE_DEPENDS "${CPACK_DEBIAN_PACKAGE_DEPENDS}")
