// Inline assembly: scopes, repeated labels, every kind of operand.
// targets: sm_80 sm_90
extern "C" __global__ void assembly(int* out, float* f, unsigned long long* l) {
  int v = out[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    asm volatile(
        "{\n\t.reg .pred p, q;\n\t.reg .b32 t<3>;\n\t"
        "setp.ge.s32 q, %0, 9; setp.gt.and.s32 p|q, %0, 4, !q;\n\t"
        "@!p bra skip;\n\t"
        "add.s32 %0, %0, (3 + 4) * 2;\n\t"
        "bra.uni done;\n"
        "skip: mov.u32 t1, -0x10; mov.b32 t2, 0b101U; add.s32 %0, t1, t2;\n"
        "done: }\n"
        : "+r"(v));
  }
  unsigned lo, hi;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(l[0]));
  asm("mov.b64 {%0, _}, %1;" : "=r"(lo) : "l"(l[1]));
  asm("add.cc.u32 %0, %0, 1; addc.u32 %1, %1, WARP_SZ;" : "+r"(lo), "+r"(hi));
  asm("/* a comment { */ lop3.b32 %0, %0, %1, 017, 0xE8; // }" : "+r"(lo) : "r"(hi));
  asm("prmt.b32 %0, %0, %1, 0x7531;" : "+r"(lo) : "r"(hi));
  asm("vmad.s32.u32.u32 %0, %0.b1, -%1.h0, %0;" : "+r"(lo) : "r"(hi));
  asm("fma.rn.f32 %0, %0, 0f3F800000, 1.5;" : "+f"(f[0]));
  asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2+-8];" : "=r"(lo), "=r"(hi) : "l"(l + 1));
  asm volatile("st.global.u32 [%0 + 4 * 2], %1;" ::"l"(out), "r"(v));
  asm volatile(".pragma \"nounroll\";");
  asm volatile("mov.u64 %0, %%clock64; mov.u32 %1, %%ctaid.x;" : "=l"(l[2]), "=r"(lo));
  out[threadIdx.x] = v + lo + hi;
}
