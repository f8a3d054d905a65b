# SPDX-License-Identifier: Apache-2.0
# Read by ctest. Tests find NVRTC in the project's own virtual environment (scripts/fetch-python.sh).
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/python/fetched.txt)
  get_filename_component(environment ${CMAKE_CURRENT_LIST_DIR}/../build/python ABSOLUTE)
  set(ENV{VIRTUAL_ENV} ${environment})
endif()
# Without this a finding of UndefinedBehaviorSanitizer is a line on standard error of a test that passes; and a race in a
# process that a test started is to end that process, which the test sees.
if(NOT DEFINED ENV{UBSAN_OPTIONS})
  set(ENV{UBSAN_OPTIONS} halt_on_error=1:print_stacktrace=1)
endif()
if(NOT DEFINED ENV{TSAN_OPTIONS})
  set(ENV{TSAN_OPTIONS} halt_on_error=1)
endif()
