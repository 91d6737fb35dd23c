# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, the package that find_package(rooftile) and pkg-config find, and
# `cpack` (a .deb and a .tar.gz).
include(CMakePackageConfigHelpers)
include(PublicHeaders)

rooftile_public_headers(public_headers)
target_sources(rooftile PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
               FILES ${public_headers})
install(TARGETS rooftile EXPORT rooftileTargets FILE_SET HEADERS)

if(TARGET rooftile_cli)
  install(TARGETS rooftile_cli)
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/rooftile")
configure_package_config_file(cmake/rooftileConfig.cmake.in rooftileConfig.cmake
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(rooftileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT rooftileTargets NAMESPACE rooftile:: DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/rooftileConfig.cmake"
              "${PROJECT_BINARY_DIR}/rooftileConfigVersion.cmake"
              cmake/Nvcc.cmake cmake/Kernels.cmake cmake/nvcc_pass.cmake DESTINATION "${package_dir}")

file(RELATIVE_PATH PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/rooftile.pc.in rooftile.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rooftile.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Shell completions, each where its shell looks.
function(rooftile_install_completion file directory)
  if(EXISTS "${PROJECT_SOURCE_DIR}/apps/rooftile/completions/${file}")
    install(FILES "apps/rooftile/completions/${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${directory}" ${ARGN})
  endif()
endfunction()
rooftile_install_completion(rooftile.bash bash-completion/completions RENAME rooftile)
rooftile_install_completion(_rooftile zsh/site-functions)
rooftile_install_completion(rooftile.fish fish/vendor_completions.d)

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_PACKAGE_CONTACT "The Rooftile authors <rooftile@localhost>")
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  find_program(ROOFTILE_SHLIBDEPS dpkg-shlibdeps)
  if(ROOFTILE_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  endif()
  include(CPack)
endif()
