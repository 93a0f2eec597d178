// The functions of libcuda.so.1; library.cc fills their slots in.
#include "shim/exports.h"

baton_exports_begin
#define BATON_SYMBOL(symbol, name, version, stream) baton_symbol symbol
#include "shim/symbols.inc"
baton_exports_end
