# SPDX-License-Identifier: Apache-2.0
# What every target shares: warnings, sanitizers, and the functions that declare one folder as one library or one test.

add_library(accelopt_options INTERFACE)
if(ACCELOPT_WARNINGS)
  target_compile_options(accelopt_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference
    $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
    $<$<BOOL:${ACCELOPT_WERROR}>:-Werror>)
else()
  target_compile_options(accelopt_options INTERFACE -w)
endif()
# GCC 12 sees overflows in std::string that are not there once it inlines (GCC bugs 105329, 105651).
target_compile_options(accelopt_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
# Several sources compiled as one: what is local to one of them looks as if it came from a header, and more is inlined.
if(CMAKE_UNITY_BUILD)
  target_compile_options(accelopt_options INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference>)
endif()
# Paths in assertions are the project's own: no binary says where it was built, and ccache serves every checkout.
target_compile_options(accelopt_options INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
# GCC collects its garbage when its heap has grown by 128 MB at most: with a gigabyte it works a twentieth less.
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1000000>")
# A process loads the libraries that it calls: src/base names more of them than most need.
target_link_options(accelopt_options INTERFACE LINKER:--as-needed)
target_include_directories(accelopt_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(accelopt_options INTERFACE JSON_USE_IMPLICIT_CONVERSIONS=0 JSON_HAS_THREE_WAY_COMPARISON=0)
# src/base/fmt.cpp compiles these versions of fmt; every source compiles others for itself.
find_package(fmt REQUIRED)
if(NOT fmt_VERSION VERSION_LESS 10)
  target_compile_definitions(accelopt_options INTERFACE FMT_HEADER_ONLY)
endif()
if(ACCELOPT_SANITIZE)
  # A compiler may be there without the libraries of its sanitizers.
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${ACCELOPT_SANITIZE})
  check_cxx_source_compiles("int main() {}" ACCELOPT_SANITIZER_LINKS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT ACCELOPT_SANITIZER_LINKS)
    unset(ACCELOPT_SANITIZER_LINKS CACHE)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} links no program with -fsanitize=${ACCELOPT_SANITIZE}: run scripts/install-deps.sh, which installs libclang-rt-14-dev")
  endif()
  target_compile_definitions(accelopt_options INTERFACE ACCELOPT_SANITIZED)
  target_compile_options(accelopt_options INTERFACE -fsanitize=${ACCELOPT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(accelopt_options INTERFACE -fsanitize=${ACCELOPT_SANITIZE})
  # These programs have up to 400 MB, which takes it a quarter of the time.
  find_program(ACCELOPT_LLD NAMES ld.lld)
  if(ACCELOPT_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(accelopt_options INTERFACE -fuse-ld=lld)
  endif()
endif()
if(ACCELOPT_FUZZ_COVERAGE)
  target_compile_options(accelopt_options INTERFACE -fsanitize-coverage=trace-pc)
  add_library(accelopt_no_coverage STATIC ${CMAKE_SOURCE_DIR}/cmake/no_coverage.cpp)
  target_link_libraries(accelopt_options INTERFACE accelopt_no_coverage)
endif()

# The imported TARGET stands for the archive FILE, where this machine has it.
function(accelopt_use_archive target file)
  find_library(${file}_path NAMES ${file})
  if(NOT ${file}_path)
    message(WARNING "${file} is not here: the programs need it as a shared library")
  elseif(TARGET ${target})
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL INTERFACE_LIBRARY)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${${file}_path})
    else()
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${file}_path})
    endif()
  endif()
endfunction()

# A program that is copied to other machines.
function(accelopt_slim target)
  if(ACCELOPT_STATIC_LIBRARIES)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections)
  endif()
endfunction()

# Precompiled headers: one for the program, one with GoogleTest for the tests; who shares one is compiled with the same options.
option(ACCELOPT_PCH "Precompile the headers that most sources include" ON)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(ACCELOPT_PCH_FOR_CCACHE "SHELL:-Xclang -fno-pch-timestamp")
else()
  set(ACCELOPT_PCH_FOR_CCACHE -fpch-preprocess)
endif()
function(accelopt_add_pch name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
  target_link_libraries(${name} PRIVATE accelopt_options tl::expected nlohmann_json::nlohmann_json ${ARG_DEPENDS})
  target_compile_options(${name} PUBLIC ${ACCELOPT_PCH_FOR_CCACHE})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp ${ARG_HEADERS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()
if(ACCELOPT_PCH)
  find_package(tl-expected REQUIRED)
  find_package(nlohmann_json REQUIRED)
  accelopt_add_pch(accelopt_pch)
  if(ACCELOPT_TESTS)
    find_package(GTest REQUIRED)
    accelopt_add_pch(accelopt_pch_test HEADERS <gtest/gtest.h> DEPENDS GTest::gtest)
  endif()
endif()
function(accelopt_use_pch target pch)
  if(ACCELOPT_PCH)
    target_compile_options(${target} PRIVATE ${ACCELOPT_PCH_FOR_CCACHE})
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# accelopt_library(base SOURCES a.cpp b.cpp DEPENDS accelopt_x PRIVATE_DEPENDS lib)
# One folder, one static library named accelopt_<folder>; '/' in the folder's name becomes '_'.
# Several sources are compiled as one where CMAKE_UNITY_BUILD says so: names that are local to a file are unique in its folder.
function(accelopt_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" target accelopt_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC accelopt_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  accelopt_use_pch(${target} accelopt_pch)
endfunction()

# Everything that accelopt_test declares, with what it needs.
add_custom_target(accelopt_tests)

# accelopt_test(base SOURCES result_test.cpp DEPENDS accelopt_base)
# One folder of tests, one executable named <folder>_test, each test case a CTest case. With MEASURES at
# most one of them runs beside another test that measures; those that ALONE names, a filter of GoogleTest, run beside
# nothing where ctest uses two cores: they look for small differences of times. Those that UNSANITIZED names, a filter as well,
# are arithmetic, twenty times as slow under a sanitizer and left out there.
function(accelopt_test name)
  cmake_parse_arguments(ARG "MEASURES" "ALONE;UNSANITIZED" "SOURCES;DEPENDS;LABELS" ${ARGN})
  string(REPLACE "/" "_" target ${name}_test)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE accelopt_options ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  # With -Og GCC 12 sees a std::stop_source that is used before it is set.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  accelopt_use_pch(${target} accelopt_pch_test)
  add_dependencies(accelopt_tests ${target})
  set(properties TIMEOUT 120)
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  set(left_out ${ARG_ALONE})
  if(ACCELOPT_SANITIZE)
    list(APPEND left_out ${ARG_UNSANITIZED})
  endif()
  if(ARG_ALONE)
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 TEST_FILTER "${ARG_ALONE}" TEST_LIST ${target}_alone
                         PROPERTIES ${properties} RESOURCE_LOCK cpu PROCESSORS 4)
  endif()
  set(others)
  if(left_out)
    list(JOIN left_out ":" left_out)
    set(others TEST_FILTER "-${left_out}")
  endif()
  if(ARG_MEASURES)
    list(APPEND properties RESOURCE_LOCK beside_cpu)  # as tests/blackbox/CMakeLists.txt has it
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 ${others} PROPERTIES ${properties})
endfunction()

# A source that a custom command of this folder makes: compiled by itself. The target needs nothing: without it the command, and all that is compiled
# after it, would wait for the libraries that this folder's is linked with.
function(accelopt_generated output)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${output})
  set_source_files_properties(${path} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  file(RELATIVE_PATH name ${CMAKE_BINARY_DIR} ${path})
  string(MAKE_C_IDENTIFIER ${name} name)
  add_custom_target(make_${name} DEPENDS ${path})
endfunction()

# accelopt_embed_files(OUTPUT builtin_prompts.cpp FOLDER prompts FILES cpp/a.txt HEADER agents/builtin_prompts.hpp NAMESPACE accelopt::agents TYPE BuiltinPrompt FUNCTION builtin_prompts)
# A generated source of this folder, which holds the text files (cmake/embed_files.cmake).
function(accelopt_embed_files)
  cmake_parse_arguments(ARG "" "OUTPUT;FOLDER;HEADER;NAMESPACE;TYPE;FUNCTION" "FILES" ${ARGN})
  set(paths ${ARG_FILES})
  list(TRANSFORM paths PREPEND ${ARG_FOLDER}/)
  string(REPLACE ";" "," names "${ARG_FILES}")
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${ARG_FOLDER} -DNAMES=${names} -DHEADER=${ARG_HEADER} -DNAMESPACE=${ARG_NAMESPACE} -DTYPE=${ARG_TYPE}
            -DFUNCTION=${ARG_FUNCTION} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT} -P ${script}
    DEPENDS ${paths} ${script}
    COMMENT "Building files into ${ARG_OUTPUT}"
    VERBATIM)
  accelopt_generated(${ARG_OUTPUT})
endfunction()
