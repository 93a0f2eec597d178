// The program `baton`.

#include "cli/tool_main.h"

int main(int count, char** values) {
  return baton::cli::tool_main(count, values);
}
