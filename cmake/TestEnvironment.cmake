# SPDX-License-Identifier: Apache-2.0
# Read by ctest: tests find NVRTC in the project's own virtual environment (scripts/fetch-python.sh).
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/python/fetched.txt)
  get_filename_component(environment ${CMAKE_CURRENT_LIST_DIR}/../build/python ABSOLUTE)
  set(ENV{VIRTUAL_ENV} ${environment})
endif()
