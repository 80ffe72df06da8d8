# What limits the use of a memory error in the libraries and the program: stack protector, checked
# string functions, all relocations resolved and made read-only at the start. Not with sanitizers,
# which check more, nor without optimization, where there is nothing to check by. Never reaches a
# consumer's own code.
add_library(tuner_hardening INTERFACE)
if(TUNER_HARDENING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_compile_options(tuner_hardening INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug,None>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
  target_link_options(tuner_hardening INTERFACE "LINKER:-z,relro,-z,now,-z,noexecstack")
endif()
