#include "baton.h"

#define BATON_TEXT_OF(number) #number
#define BATON_VERSION_TEXT(major, minor, patch) \
  BATON_TEXT_OF(major) "." BATON_TEXT_OF(minor) "." BATON_TEXT_OF(patch)

const char* baton_version(void) {
  return BATON_VERSION_TEXT(BATON_VERSION_MAJOR, BATON_VERSION_MINOR, BATON_VERSION_PATCH);
}
