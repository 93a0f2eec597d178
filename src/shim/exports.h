// For assembler files: the functions that a library exports by a table of symbols. Each is a jump
// through its slot, which the library fills in when it is loaded; a slot that is left holds
// baton_call_missing. The number of the symbol goes along in a register that no call of C uses, so
// that one function serves all that are missing. The symbols are weak: a function of the same name
// in the library takes the place of its jump.
//
// Whoever includes this defines BATON_SYMBOL as `baton_symbol symbol`, and includes the table between
// baton_exports_begin and baton_exports_end.
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "CUDA libraries are exported on x86-64 and AArch64 only"
#endif

.set baton_number, 0

.macro baton_hidden name type
  .globl \name
  .hidden \name
  .type \name, %\type
.endm

.macro baton_symbol name
  .text
  .balign 16
  .weak \name
  .type \name, %function
\name:
#if defined(__x86_64__)
  endbr64
  movl $baton_number, %eax
  jmp *(baton_slots + 8 * baton_number)(%rip)
#else
  hint #34  // bti c
  adrp x16, baton_slots + 8 * baton_number
  ldr x16, [x16, :lo12:baton_slots + 8 * baton_number]
  mov w17, #baton_number
  br x16
#endif
  .size \name, . - \name
  .section .data.rel.ro.baton, "aw", %progbits
  .quad \name
  .section .data.rel.baton, "aw", %progbits
  .quad baton_call_missing
  .set baton_number, baton_number + 1
.endm

// baton_exports: the addresses of the functions by number. baton_slots: where they jump to.
.macro baton_exports_begin
  .section .data.rel.ro.baton, "aw", %progbits
  .balign 8
  baton_hidden baton_exports object
baton_exports:
  .section .data.rel.baton, "aw", %progbits
  .balign 8
  baton_hidden baton_slots object
baton_slots:
.endm

// baton_call_missing: calls baton_missing(number) and returns what that does.
.macro baton_exports_end
  .section .data.rel.ro.baton, "aw", %progbits
  .size baton_exports, . - baton_exports
  .section .data.rel.baton, "aw", %progbits
  .size baton_slots, . - baton_slots
  .text
  .balign 16
  baton_hidden baton_call_missing function
baton_call_missing:
#if defined(__x86_64__)
  endbr64
  movl %eax, %edi
  jmp baton_missing
#else
  hint #34
  mov w0, w17
  b baton_missing
#endif
  .size baton_call_missing, . - baton_call_missing
  .section .note.GNU-stack, "", %progbits
.endm
