// The functions of the recorder's libcuda.so.1. Their slots lead to baton_call_resolver until the
// first call of any of them, which opens the driver: a process that calls none needs none.
#define baton_call_missing baton_call_resolver
#include "shim/exports.h"

baton_exports_begin
#define BATON_SYMBOL(symbol, name, version, stream) baton_symbol symbol
#include "shim/symbols.inc"

  .section .data.rel.ro.baton, "aw", %progbits
  .size baton_exports, . - baton_exports
  .section .data.rel.baton, "aw", %progbits
  .size baton_slots, . - baton_slots

// Calls baton_resolve(number), and goes to what that returns with the arguments of the call.
  .text
  .balign 16
  baton_hidden baton_call_resolver function
baton_call_resolver:
#if defined(__x86_64__)
  endbr64
  pushq %rbp
  movq %rsp, %rbp
  andq $-16, %rsp
  subq $176, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movaps %xmm0, 48(%rsp)
  movaps %xmm1, 64(%rsp)
  movaps %xmm2, 80(%rsp)
  movaps %xmm3, 96(%rsp)
  movaps %xmm4, 112(%rsp)
  movaps %xmm5, 128(%rsp)
  movaps %xmm6, 144(%rsp)
  movaps %xmm7, 160(%rsp)
  movl %eax, %edi
  call baton_resolve
  movq %rax, %r11
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movaps 48(%rsp), %xmm0
  movaps 64(%rsp), %xmm1
  movaps 80(%rsp), %xmm2
  movaps 96(%rsp), %xmm3
  movaps 112(%rsp), %xmm4
  movaps 128(%rsp), %xmm5
  movaps 144(%rsp), %xmm6
  movaps 160(%rsp), %xmm7
  movq %rbp, %rsp
  popq %rbp
  jmp *%r11
#else
  hint #34  // bti c
  stp x29, x30, [sp, #-224]!
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl baton_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  br x16
#endif
  .size baton_call_resolver, . - baton_call_resolver
  .section .note.GNU-stack, "", %progbits
