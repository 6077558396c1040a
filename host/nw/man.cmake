# SPDX-License-Identifier: MIT
# cmake -DNW=program -DVERSION=x -DOUTPUT=nw.1 -P man.cmake: the manual page of nw, from the text of its --help.
function(help_of variable)
  execute_process(COMMAND ${NW} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "${NW}" "nw" text "${text}")
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}") # else a request of roff
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

help_of(all)
set(page ".TH NW 1 \"\" \"nibblewave ${VERSION}\"\n.SH NAME
nw \\- kernels for AMD RDNA GPUs: write, run, check, time, explain\n.SH DESCRIPTION\n.nf\n${all}.fi\n")
execute_process(COMMAND ${NW} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z][a-z-]+ " commands "${text}")
list(TRANSFORM commands STRIP)
foreach(command ${commands})
  help_of(help ${command})
  string(TOUPPER ${command} title)
  string(APPEND page ".SH NW ${title}\n.nf\n${help}.fi\n")
endforeach()
file(WRITE ${OUTPUT} "${page}")
