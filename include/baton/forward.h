#pragma once

#include "baton/export.h"

// Declarations of the classes that the other headers and users name before they are defined. A
// class of the interface has the version in its symbols, so a declaration without BATON_API does
// not fit: include this header instead.
namespace baton {

class BATON_API Allocator;
class BATON_API Bundle;
class BATON_API Device;
class BATON_API Error;
class BATON_API Event;
class BATON_API Executable;
class BATON_API FunctionMetadata;
class BATON_API Graph;
class BATON_API GraphInstance;
class BATON_API Image;
class BATON_API Kernel;
class BATON_API LaunchAttribute;
class BATON_API LaunchAttributes;
class BATON_API LaunchPlan;
class BATON_API LoadedProgram;
class BATON_API Memory;
class BATON_API Module;
class BATON_API ModuleMetadata;
class BATON_API PinnedMemory;
class BATON_API Program;
class BATON_API ProgramBuilder;
class BATON_API Simulation;
class BATON_API SmPart;
class BATON_API Stream;
class BATON_API TensorMap;

}  // namespace baton
