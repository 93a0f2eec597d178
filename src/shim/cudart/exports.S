// The functions of libcudart.so.13 that the files beside this one do not have.
#include "shim/exports.h"

baton_exports_begin
#define BATON_SYMBOL(symbol) baton_symbol symbol
#include "shim/cudart/symbols.inc"
baton_exports_end
