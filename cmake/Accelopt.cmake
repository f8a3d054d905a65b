# SPDX-License-Identifier: Apache-2.0
# What every target shares: warnings, sanitizers, and the functions that declare one folder as one library or one test.

add_library(accelopt_options INTERFACE)
target_compile_options(accelopt_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
  $<$<BOOL:${ACCELOPT_WERROR}>:-Werror>)
target_include_directories(accelopt_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(accelopt_options INTERFACE FMT_HEADER_ONLY)
if(ACCELOPT_SANITIZE)
  target_compile_options(accelopt_options INTERFACE -fsanitize=${ACCELOPT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(accelopt_options INTERFACE -fsanitize=${ACCELOPT_SANITIZE})
endif()

# accelopt_library(base SOURCES a.cpp b.cpp DEPENDS accelopt_x PRIVATE_DEPENDS lib)
# One folder, one static library named accelopt_<folder>; '/' in the folder's name becomes '_'.
function(accelopt_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" target accelopt_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC accelopt_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
endfunction()

# accelopt_test(base SOURCES result_test.cpp DEPENDS accelopt_base)
# One folder of tests, one executable named <folder>_test, each test case a CTest case.
function(accelopt_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  string(REPLACE "/" "_" target ${name}_test)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE accelopt_options ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS "${ARG_LABELS}")
endfunction()
