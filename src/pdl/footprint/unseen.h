#pragma once

// What the analysis of a kernel could not see, as causes and in words.

#include <cstdint>
#include <string>
#include <string_view>

namespace baton::overlap {

// Why a kernel may do more than its footprint lists.
enum class UnseenCause : std::uint8_t {
  kMachineCode,     // no PTX that it was made from is there
  kNoKernel,        // its PTX has no such kernel
  kUnreadable,      // its PTX cannot be read; detail: the reader's message
  kShortAddresses,  // its PTX has addresses of 32 bits
  // An operation that cannot be followed; detail: its place.
  kCall,
  kRegisterCall,       // a call through a register
  kForeignCall,        // a call to a function that the module only declares
  kRecursion,          // a call to a function that is being called
  kPartOfRegister,     // writes a part of a vector register
  kAddressOfArgument,  // takes the address of what a call passes
};
struct Unseen {
  UnseenCause cause = UnseenCause::kMachineCode;
  std::string detail = {};
};

// Why the memory of an access is not known.
enum class UnknownAddress : std::uint8_t {
  kOtherSpace,   // the address is not in the memory that the instruction names
  kNoOrigin,     // no origin of it was found
  kManyOrigins,  // more origins than are kept
  kConstant,     // it is a number in the code
  kComputed,     // from no pointer
  kLoaded,       // from memory
  kDecided,      // what is loaded from memory decides a branch: the address may tell it
  kMap,          // the access goes through a tensor map or a texture
  kStruct,       // it is in a struct that is passed by value
  kNoParameter,  // it does not come from a parameter that the launch has
  kNoBuffer,     // it comes from a parameter that is given no buffer
  kBeside,       // numbers tell its alignment, and other memory shares that with it
};

// "a recursive call is at k.ptx:14"
std::string describe(const Unseen& unseen);
// "its address is loaded from memory"
std::string_view describe(UnknownAddress why);

}  // namespace baton::overlap
