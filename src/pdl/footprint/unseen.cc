#include "pdl/footprint/unseen.h"

namespace baton::overlap {
namespace {

std::string_view text_of(UnseenCause cause) {
  switch (cause) {
    case UnseenCause::kMachineCode:
      return "it is machine code, and no PTX that it was made from is at hand";
    case UnseenCause::kNoKernel:
      return "its PTX has no such kernel";
    case UnseenCause::kUnreadable:
      return "";
    case UnseenCause::kShortAddresses:
      return "its PTX has addresses of 32 bits";
    case UnseenCause::kCall:
      return "a call is at ";
    case UnseenCause::kRegisterCall:
      return "a call through a register is at ";
    case UnseenCause::kForeignCall:
      return "a call of a function whose body is elsewhere is at ";
    case UnseenCause::kRecursion:
      return "a recursive call is at ";
    case UnseenCause::kPartOfRegister:
      return "a write to a part of a vector register is at ";
    case UnseenCause::kAddressOfArgument:
      return "taking the address of what a call passes is at ";
  }
  return "";
}

}  // namespace

std::string describe(const Unseen& unseen) {
  return std::string(text_of(unseen.cause)) + unseen.detail;
}

std::string_view describe(UnknownAddress why) {
  switch (why) {
    case UnknownAddress::kOtherSpace:
      return "its address is not in the memory that the instruction names";
    case UnknownAddress::kNoOrigin:
      return "its address has no known origin";
    case UnknownAddress::kManyOrigins:
      return "its address has too many possible origins";
    case UnknownAddress::kConstant:
      return "its address is a constant";
    case UnknownAddress::kComputed:
      return "its address is computed from no pointer";
    case UnknownAddress::kLoaded:
      return "its address is loaded from memory";
    case UnknownAddress::kDecided:
      return "a value that is loaded from memory decides a branch, and so perhaps the address";
    case UnknownAddress::kMap:
      return "it goes through a tensor map or a texture";
    case UnknownAddress::kStruct:
      return "its address is in a struct that is passed by value";
    case UnknownAddress::kNoParameter:
      return "its address does not come from a parameter";
    case UnknownAddress::kNoBuffer:
      return "its address does not come from a buffer";
    case UnknownAddress::kBeside:
      return "numbers tell the alignment of an address, and two buffers share 256 bytes";
  }
  return "";
}

}  // namespace baton::overlap
