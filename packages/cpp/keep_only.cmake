# @NAME@_keep_only(LIBRARY FUNCTION): of all that the static library defines, only the function is seen from outside. What
# else bears the name of one of its helpers, inline ones too, neither clashes with that nor takes its place.
function(@NAME@_keep_only library function)
  if(NOT CMAKE_OBJCOPY)
    message(FATAL_ERROR "objcopy is needed: install binutils")
  endif()
  set_target_properties(${library} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${library} PRIVATE -fno-lto)
  set(archive $<TARGET_FILE:${library}>)
  add_custom_command(
    TARGET ${library} POST_BUILD
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -fuse-ld=bfd -Wl,--force-group-allocation -o ${archive}.o
            -Wl,--whole-archive ${archive} -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=${function} ${archive}.o
    COMMAND ${CMAKE_COMMAND} -E remove -f ${archive}
    COMMAND ${CMAKE_AR} qcs ${archive} ${archive}.o
    VERBATIM)
endfunction()
