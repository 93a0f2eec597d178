# Copies the guides for an installed package: cmake -D SOURCE=sources -D OUT=folder -P this.
# Links to what only the sources have become text.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${OUT}")
file(MAKE_DIRECTORY "${OUT}")

# A link to a file of the sources, as text: "the example (examples/llama of the sources)".
function(write_page from to prefix)
  file(READ "${from}" page)
  string(REPLACE "](${prefix}CHANGELOG.md" "](CHANGELOG.md" page "${page}")
  if(prefix STREQUAL "")
    string(REPLACE "](docs/" "](" page "${page}")
    string(REPLACE "[docs/" "[" page "${page}")
    string(REPLACE "[LICENSE](LICENSE)" "the package's licence" page "${page}")
    foreach(name IN ITEMS "ARCHITECTURE.md" "CONTRIBUTING.md")
      string(REPLACE "[${name}](${name})" "`${name}` of the sources" page "${page}")
    endforeach()
    foreach(place IN ITEMS "include" "examples")
      string(REGEX REPLACE "\\[([^]]*)\\]\\((${place}[^)]*)\\)" "\\1 (`\\2` of the sources)" page "${page}")
    endforeach()
  else()
    string(REGEX REPLACE "\\[([^]]*)\\]\\(\\.\\./([^)]*)\\)" "\\1 (`\\2` of the sources)" page "${page}")
    string(REPLACE "[contributing.md](contributing.md)" "`CONTRIBUTING.md` of the sources" page "${page}")
  endif()
  file(WRITE "${to}" "${page}")
endfunction()

# Pages of the site alone: its front, and those that show pages of the root folder.
set(site index architecture changelog contributing)
file(GLOB pages "${SOURCE}/docs/*.md")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME_WE)
  if(NOT name IN_LIST site)
    write_page("${page}" "${OUT}/${name}.md" "../")
  endif()
endforeach()
write_page("${SOURCE}/README.md" "${OUT}/README.md" "")
write_page("${SOURCE}/CHANGELOG.md" "${OUT}/CHANGELOG.md" "")
file(COPY "${SOURCE}/docs/pictures" "${SOURCE}/docs/notebooks" DESTINATION "${OUT}"
  FILES_MATCHING PATTERN "*.svg" PATTERN "*.png" PATTERN "*.ipynb" PATTERN "*.ptx" PATTERN "*.json")
file(TOUCH "${OUT}.stamp")
