#pragma once

// What the command line takes from the rooms below for its own words: errors with formatted
// messages, near names, the names of a program file's choices, the words for parameters, and
// numbers, sizes, times and text as a terminal shows them.

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/overloaded.h"
#include "base/system/environment.h"
#include "base/text/suggest.h"
#include "base/text/suggestion_or.h"
#include "base/text/text.h"
#include "image/names/param_types.h"
#include "program/names.h"
