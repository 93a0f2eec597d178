#pragma once

namespace baton::sim {

// Kernels for the tests of the driver, in PTX.
inline constexpr char kTestKernels[] = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .global .align 4 .b32 table[7] = {1, 2, 3};
.visible .const .align 4 .f32 coefficients[3];

.visible .entry empty() { ret; }

// y[i] += a for i < n
.visible .entry add(.param .u64 add_y, .param .u32 add_a, .param .u32 add_n) {
  .reg .pred %p;
  .reg .u32 %r<8>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [add_y];
  ld.param.u32 %r1, [add_a];
  ld.param.u32 %r2, [add_n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p, %r6, %r2;
  @%p bra done;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.u32 %r7, %r7, %r1;
  st.global.u32 [%rd3], %r7;
done:
  ret;
}

// Stores value to *address.
.visible .entry store(.param .u64 store_address, .param .u32 store_value) {
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [store_address];
  ld.param.u32 %r1, [store_value];
  st.global.u32 [%rd1], %r1;
  ret;
}

// Loops until *flag is no more zero, then stores 1 to *out.
.visible .entry await(.param .u64 await_flag, .param .u64 await_out) {
  .reg .pred %p;
  .reg .u32 %r<2>;
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [await_flag];
  ld.param.u64 %rd2, [await_out];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  st.global.u32 [%rd2], 1;
  ret;
}

.visible .entry forever() {
again:
  bra again;
}

.visible .entry fault(.param .u64 fault_address) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [fault_address];
  st.global.u32 [%rd1], 1;
  ret;
}

.visible .entry trapping() { trap; }

.visible .entry mixed(
    .param .u8 mixed_0,
    .param .align 8 .b8 mixed_1[24],
    .param .u16 mixed_2,
    .param .align 16 .b8 mixed_3[16],
    .param .u64 mixed_4) {
  .reg .u16 %rs<3>;
  .reg .u32 %r<4>;
  .reg .u64 %rd<3>;
  ld.param.u8 %rs1, [mixed_0];
  ld.param.u16 %rs2, [mixed_2];
  ld.param.u64 %rd1, [mixed_1+8];
  ld.param.u32 %r1, [mixed_3+12];
  ld.param.u64 %rd2, [mixed_4];
  cvt.u32.u16 %r2, %rs1;
  cvt.u32.u16 %r3, %rs2;
  st.global.v2.u32 [%rd2], {%r2, %r3};
  st.global.u64 [%rd2+8], %rd1;
  st.global.u32 [%rd2+16], %r1;
  ret;
}

.visible .entry bounded() .maxntid 256, 1, 1 { ret; }
.visible .entry fixed() .reqntid 64, 2, 1 { ret; }
.visible .entry paired() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }

// 4000 bytes of static shared memory.
.visible .entry staged(.param .u64 staged_out) {
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  .shared .align 4 .b8 buffer[4000];
  ld.param.u64 %rd1, [staged_out];
  mov.u32 %r1, 7;
  st.shared.u32 [buffer+3996], %r1;
  ld.shared.u32 %r1, [buffer+3996];
  st.global.u32 [%rd1], %r1;
  ret;
}

// Writes the last word of its dynamic shared memory, and says how much there is.
.extern .shared .align 16 .b8 dynamic[];
.visible .entry sized(.param .u64 sized_out) {
  .reg .u32 %r<5>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [sized_out];
  mov.u32 %r1, %dynamic_smem_size;
  mov.u32 %r2, dynamic;
  add.u32 %r3, %r2, %r1;
  st.shared.u32 [%r3+-4], %r1;
  ld.shared.u32 %r4, [%r3+-4];
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

}  // namespace baton::sim
