#pragma once
// What err.h holds for the host parts of a .cu file.
#ifdef BATON_HOST_CODE

BATON_HOST(void, err)
BATON_HOST(void, errx)
BATON_HOST(void, warn)
BATON_HOST(void, warnx)

#endif
