# What Debian's packages have beside the installed files, in the folder tree that CPack makes the
# package of: compressed man pages, changelogs, the licence, and what lintian need not say.
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
