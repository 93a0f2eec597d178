# Installs the headers and the library as a package for find_package(baton) and pkg-config.
include(CMakePackageConfigHelpers)

function(baton_limit_exports target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/libbaton.map")
  if(NOT BATON_CXX_INTERFACE)
    set(map "${PROJECT_SOURCE_DIR}/cmake/libbaton_c.map")
  endif()
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()

# baton_install(TARGET COMPONENT [EXCLUDE_FROM_ALL]): everything that an embedder of this library
# needs, as one component.
function(baton_install target component)
  get_target_property(kind ${target} TYPE)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/baton")
  set(where COMPONENT ${component} ${ARGN})
  set(made "${CMAKE_CURRENT_BINARY_DIR}/package/${target}")

  install(TARGETS ${target} EXPORT ${target}-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${where}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${where})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/baton"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${where})
  install(FILES "${PROJECT_SOURCE_DIR}/include/baton.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${where})
  install(EXPORT ${target}-targets NAMESPACE baton::
    DESTINATION "${package}" ${where})

  # What a C compiler does not link by itself, and a static library needs.
  set(cxx_libraries "")
  if(kind STREQUAL "STATIC_LIBRARY")
    set(cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
    list(REMOVE_ITEM cxx_libraries ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
    list(REMOVE_DUPLICATES cxx_libraries)
  endif()

  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/baton-config.cmake.in"
    "${made}/baton-config.cmake" INSTALL_DESTINATION "${package}" PATH_VARS CMAKE_INSTALL_BINDIR)
  # Before 1.0 a minor version may change the interface.
  write_basic_package_version_file("${made}/baton-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${made}/baton-config.cmake"
    "${made}/baton-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/BatonEmbed.cmake"
    DESTINATION "${package}" ${where})

  # pkg-config: what a static library needs, everyone who links it needs. The prefix is found from
  # the file's own place, so that an installed tree may be moved.
  foreach(folder libdir includedir)
    string(TOUPPER "CMAKE_INSTALL_${folder}" variable)
    if(IS_ABSOLUTE "${${variable}}")
      set(pc_${folder} "${${variable}}")
    else()
      set(pc_${folder} "\${prefix}/${${variable}}")
    endif()
  endforeach()
  file(RELATIVE_PATH pc_up "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  set(pc_system "")
  set(pc_requires "")
  if(kind STREQUAL "STATIC_LIBRARY")
    list(TRANSFORM cxx_libraries PREPEND " -l" OUTPUT_VARIABLE pc_cxx)
    list(JOIN pc_cxx "" pc_cxx)
    set(pc_system " -ldl -pthread${pc_cxx}")
    set(pc_requires "fmt libxxhash libzstd libcrypto")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/baton.pc.in" "${made}/baton.pc" @ONLY)
  install(FILES "${made}/baton.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" ${where})
endfunction()

get_target_property(baton_kind baton TYPE)
if(baton_kind STREQUAL "SHARED_LIBRARY")
  baton_limit_exports(baton)
endif()
baton_install(baton Unspecified)

# The other kind of library, from the same objects: tests/package tries both, and nothing else
# needs it.
if(BATON_BUILD_TESTS)
  if(baton_kind STREQUAL "SHARED_LIBRARY")
    set(other STATIC)
  else()
    set(other SHARED)
  endif()
  get_target_property(sources baton SOURCES)
  get_target_property(libraries baton LINK_LIBRARIES)
  add_library(baton_other ${other} ${sources})
  target_link_libraries(baton_other PRIVATE ${libraries})
  target_compile_features(baton_other PUBLIC cxx_std_20)
  target_include_directories(baton_other INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  get_target_property(soversion baton SOVERSION)
  set_target_properties(baton_other PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${soversion}
    OUTPUT_NAME baton
    EXPORT_NAME baton
    ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/other"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/other")
  if(other STREQUAL "SHARED")
    baton_limit_exports(baton_other)
  endif()
  baton_install(baton_other other EXCLUDE_FROM_ALL)
endif()

# The guides. A wheel has no place for them, and a project that embeds Baton has pages of its own.
if(PROJECT_IS_TOP_LEVEL AND NOT BATON_WHEEL)
  set(guides "${PROJECT_BINARY_DIR}/guides")
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
  add_custom_command(OUTPUT "${guides}.stamp"
    COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "OUT=${guides}"
      -P "${PROJECT_SOURCE_DIR}/cmake/BatonGuides.cmake"
    DEPENDS ${pages} "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
      "${PROJECT_SOURCE_DIR}/cmake/BatonGuides.cmake"
    COMMENT "Guides"
    VERBATIM)
  add_custom_target(baton_guides ALL DEPENDS "${guides}.stamp")
  install(DIRECTORY "${guides}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endif()
