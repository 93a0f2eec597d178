# Run by CPack before it makes the Debian package: the files that Debian wants of each package, in
# its forms. Man pages and the changelog are compressed; the licence is Debian's own copy.
set(documents "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/baton")
file(COPY "${CPACK_BATON_CONTROL}/copyright" "${CPACK_BATON_CONTROL}/changelog" DESTINATION "${documents}")
file(REMOVE "${documents}/LICENSE")
# What lintian, Debian's checker of packages, warns of and is meant.
set(overrides "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/lintian/overrides")
file(MAKE_DIRECTORY "${overrides}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/baton.lintian-overrides" "${overrides}/baton" COPYONLY)
file(GLOB pages "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/man1/*.1")
execute_process(COMMAND gzip -9n ${pages} "${documents}/changelog" COMMAND_ERROR_IS_FATAL ANY)
