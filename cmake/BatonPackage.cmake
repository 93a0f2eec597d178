# The Debian package, by CPack: the tool, the shared library, its headers, guides, man pages and completions.
# The preset "package" sets what it needs; scripts/package does all of it.
include(GNUInstallDirs)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME baton)
# Debian wants an address, "NAME <ADDRESS>": whoever publishes the package gives theirs.
set(BATON_PACKAGE_CONTACT "The Baton developers" CACHE STRING "Who answers for the Debian package")
set(CPACK_PACKAGE_CONTACT "${BATON_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "launch runtime for GPU kernels, with a simulated GPU")
set(CPACK_PACKAGE_DESCRIPTION
"Baton compiles CUDA source, loads PTX and cubins, checks every launch, and runs
whole programs of kernels. The same program runs on an NVIDIA GPU and on a
machine without one, where a simulated GPU finds races and invalid accesses.
The package has the command line, the library for C and C++, and its headers.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Dependencies come from the libraries that the files need.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Those who link libbaton depend on this package. Libraries in folders of their own are not for linking.
set(control "${PROJECT_BINARY_DIR}/debian")
file(WRITE "${control}/shlibs"
  "libbaton ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} baton (>= ${PROJECT_VERSION})\n")
file(WRITE "${control}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${control}/shlibs;${control}/triggers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Signatures of bundles load it. Later systems have it by another name.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libssl3 | libssl3t64")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config, man-db")
set(CPACK_BATON_CONTROL "${control}")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/BatonDebianFiles.cmake")
# Debian's own copy of the licence is named, not repeated.
file(WRITE "${control}/copyright" "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 ${CPACK_PACKAGE_CONTACT}
License: Apache-2.0
 The licence is in /usr/share/common-licenses/Apache-2.0.
")
# The changes themselves are in CHANGELOG.md, beside it. An entry has an address, if only an empty one.
set(contact "${CPACK_PACKAGE_CONTACT}")
if(NOT contact MATCHES "<.*>")
  string(APPEND contact " <>")
endif()
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${control}/changelog" "\
baton (${PROJECT_VERSION}) unstable; urgency=medium

  * Built from the sources; CHANGELOG.md lists the changes.

 -- ${contact}  ${now}
")
include(CPack)
