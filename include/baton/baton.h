#pragma once

// All of the public API.
#include "baton/buffer.h"
#include "baton/compile.h"
#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/error.h"
#include "baton/image.h"
#include "baton/launch.h"
#include "baton/launch_plan.h"
#include "baton/log.h"
#include "baton/module.h"
#include "baton/stream.h"
