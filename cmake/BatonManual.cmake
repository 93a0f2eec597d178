# Writes the man pages and completions of the command line: cmake -D BATON=tool -D OUT=folder -P this.
function(write_output file)
  execute_process(COMMAND "${BATON}" ${ARGN} OUTPUT_FILE "${OUT}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${OUT}")
file(MAKE_DIRECTORY "${OUT}/man1")
write_output(man1/baton.1 manual)
# The first page refers to all others.
file(READ "${OUT}/man1/baton.1" page)
string(REGEX MATCHALL "baton\\\\-[a-z]+" references "${page}")
foreach(reference IN LISTS references)
  string(REPLACE "baton\\-" "" command "${reference}")
  write_output(man1/baton-${command}.1 manual ${command})
endforeach()
foreach(shell IN ITEMS bash zsh fish)
  write_output(baton.${shell} completion ${shell})
endforeach()
file(TOUCH "${OUT}/stamp")
