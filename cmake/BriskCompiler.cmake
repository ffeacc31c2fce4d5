# Compiler settings that hold for every target of brisk.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(BRISK_CCACHE ccache)
if(BRISK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Presets build the same sources in several folders; objects do not depend on the folder.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 ${BRISK_CCACHE})
endif()

add_library(brisk_flags INTERFACE)
# The order of floating-point operations is part of the interface (docs/architecture.md), so contraction is never
# left to the compiler.
target_compile_options(brisk_flags INTERFACE -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow
  -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(BRISK_WERROR)
  target_compile_options(brisk_flags INTERFACE -Werror)
endif()
if(BRISK_DCHECKS)
  target_compile_definitions(brisk_flags INTERFACE BRISK_DCHECKS=1)
endif()
if(BRISK_SANITIZE)
  target_compile_options(brisk_flags INTERFACE -fsanitize=${BRISK_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(brisk_flags INTERFACE -fsanitize=${BRISK_SANITIZE})
endif()
if(BRISK_COVERAGE)
  target_compile_options(brisk_flags INTERFACE --coverage -O0)
  target_link_options(brisk_flags INTERFACE --coverage)
endif()
if(BRISK_FUZZ)
  target_compile_options(brisk_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
