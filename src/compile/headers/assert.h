#pragma once
// assert is built into the compiler.
