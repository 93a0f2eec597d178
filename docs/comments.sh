#!/bin/sh
# A header with its comments as Doxygen reads them: "//" before a declaration as "///", behind one as
# "///<". Separators and words in code stay as they are.
exec sed -E -e 's|^( *)// ?([^/].*)?$|\1/// \2|' -e 's|([;,{}]) +// (.*)$|\1  ///< \2|' "$1"
