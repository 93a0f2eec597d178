# Installs the headers and the library as a package for find_package(baton) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/baton")
install(TARGETS baton EXPORT baton-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/baton"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT baton-targets NAMESPACE baton:: DESTINATION "${package}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/baton-config.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/baton-config.cmake" INSTALL_DESTINATION "${package}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/baton-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/baton-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/baton-config-version.cmake"
  DESTINATION "${package}")

# pkg-config: what a static library needs, everyone who links it needs.
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(BATON_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(BATON_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
if(BUILD_SHARED_LIBS)
  set(BATON_PC_REQUIRES Requires.private)
  set(BATON_PC_LIBS Libs.private)
else()
  set(BATON_PC_REQUIRES Requires)
  set(BATON_PC_LIBS Libs.private)
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/baton.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/baton.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/baton.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
