#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/cfg.h"
#include "ptx/flat.h"
#include "sim/engine/isa/matrix.h"
#include "sim/engine/isa/spec.h"
#include "sim/engine/lower/builder.h"
#include "sim/engine/lower/decode.h"
#include "sim/engine/lower/modifiers.h"
#include "sim/engine/lower/wgmma_flow.h"

namespace baton::sim {

struct Builtin;

// Bytes of a register for a value of so many bits.
inline std::uint8_t width_for(unsigned bits) {
  return bits == 1 ? 1 : bits <= 32 ? 4 : bits == 64 ? 8 : 16;
}

// What the functions of one kernel share while they are decoded.
struct KernelLowering {
  const ModuleFacts& facts;
  DecodedKernel& kernel;
  const DecodeMode mode;
  SharedLayout shared;
  std::unordered_map<const ptx::Function*, DecodedFunction*> functions;
  std::vector<const ptx::Function*> pending;  // to be decoded still
  struct Late {
    DecodedFunction* function;
    FunctionBuilder::Late constant;
  };
  std::vector<Late> late;
  bool calls_indirectly = false;

  // The function in executable form; decoded later where it is new.
  DecodedFunction* need(const ptx::Function& function);
};

// Decodes one function: its instructions become handlers over frame slots.
class Lowering {
 public:
  Lowering(KernelLowering& shared, const ptx::Function& source, DecodedFunction* target);
  void run();

 private:
  using Method = void (Lowering::*)();

  // lower.cc: registers, emission
  struct RegisterFacts {
    SlotId slot = kSink;
    unsigned bits = 0;
  };
  const RegisterFacts& register_of(const ptx::FlatFunction::Register& reg);
  void survey();
  void name_registers();
  void lower_one(std::uint32_t flat);
  Proto& emit(Handler fn);
  void def(Proto& proto, int k, SlotId slot);
  void use(Proto& proto, int k, SlotId slot) { proto.r[k] = slot; }
  void raw(Proto& proto, int k, std::uint32_t value);
  void use_predicate(Proto& proto, int k, const ptx::InstructionOperand& operand);
  SlotId temporary(unsigned bits);
  [[noreturn]] void invalid(std::string message) const;
  void require(int architecture, bool specific = false) const;
  bool is_entry() const { return source_.is_entry; }
  bool is_fixed(SlotId slot) const { return fixed_.contains(slot); }
  SlotId fixed(SlotId slot) {
    fixed_.insert(slot);
    return slot;
  }
  // The guard's instruction needs its lanes to run apart: a branch around it is emitted.
  void guard_by_branch();

  // lower_operand.cc: what operands name
  // A register to write: `bits` wide exactly, or, for `at_least`, that wide or wider.
  SlotId target(const ptx::InstructionOperand& operand, unsigned bits, bool at_least = false);
  // A value to read: register, immediate, special register or the address of a symbol.
  SlotId source(const ptx::InstructionOperand& operand, Type type, bool at_least = false);
  SlotId predicate_target(const ptx::InstructionOperand& operand);
  std::uint64_t literal(const ptx::InstructionOperand& operand, Type type) const;
  std::optional<SlotId> special_source(std::string_view name, unsigned bits);
  std::optional<SlotId> symbol_source(const ptx::InstructionOperand& operand, std::uint8_t width);
  const ptx::InstructionOperand& operand(std::size_t k) const;
  void need_operands(std::size_t least, std::size_t most) const;
  // Makes the written register stand for the slot, where that cannot be distinguished from copying.
  bool alias(const ptx::InstructionOperand& written, SlotId slot);

  // lower_alu.cc
  void alu_add_sub();
  void alu_chain();
  void alu_mul();
  void alu_mad();
  void alu_generic(Op op, std::string_view signature);
  void alu_simple();
  void alu_div();
  void alu_minmax();
  void alu_sign();
  void alu_bits();
  void alu_shift();
  void alu_funnel();
  void alu_lop3();
  void alu_prmt();
  void alu_field();
  void alu_approx();
  void alu_dot();
  void alu_testp();
  void simd_video();
  void emit_alu(const OpSpec& spec, std::string_view signature);

  // lower_move.cc
  void move();
  void cvta();
  void convert();
  void convert_pack();
  void select();
  void slct();
  void set_predicate();
  void set_register();
  void isspacep();
  void mov_time(std::string_view name);
  bool pack_or_unpack(Type type);
  void emit_copy(SlotId to, SlotId from);
  void extend(SlotId to, SlotId from, bool is_signed);

  // lower_memory.cc
  struct Address {
    SlotId slot = kSink;
    std::int64_t offset = 0;
    Space space = Space::kGeneric;
  };
  void load();
  void store();
  void access(bool is_store);
  void atomic();
  void emit_atomic(const AtomSpec& spec, const Address& where, SlotId d, SlotId b, SlotId c,
                   unsigned aligned);
  void atomic_vector(const AtomSpec& spec, Address where, unsigned elements);
  void prefetch();
  void discard();
  void create_policy();
  void fence();
  Space take_space(Modifiers& modifiers) const;
  Address address(const ptx::InstructionOperand& operand, Space space);
  Address address_in_space(const ptx::InstructionOperand& operand, Space space);
  // What an address in the space and the generic address differ by.
  std::uint64_t window(Space space) const;
  bool load_param(const ptx::InstructionOperand& destination, const ptx::InstructionOperand& from,
                  Type type, unsigned elements);
  std::uint16_t next_region();
  void count(Proto& proto, Space space, std::uint8_t address, unsigned bytes) const;

  // Accesses of one basic block that use one address register, with nothing between them that
  // writes it or lets another warp run. They share a Pattern.
  struct Group {
    SlotId slot = kSink;
    AccessSpec first;  // of the first access
    std::size_t proto = 0;
    bool shared = false;  // a second access was found
    std::uint8_t pattern = 0;
  };
  Sharing join_group(const AccessSpec& spec, SlotId slot, std::uint8_t* pattern);
  void end_groups(std::size_t first_proto);

  // lower_async.cc
  void mbarrier();
  void copy_thread();
  void arrive_async();
  void copy_bulk();
  void copy_tensor();
  void wait_thread() { wait_async(false); }
  void wait_bulk() { wait_async(true); }
  void wait_async(bool bulk);
  void async_store();
  void store_bulk();
  SlotId generic_address(const ptx::InstructionOperand& operand, Space space);

  // lower_tensor_map.cc
  void replace_tensor_map();
  void publish_tensor_map();

  // lower_matrix.cc
  struct MatrixWords {
    MmaForm form;
    std::vector<MatrixType> types;
    std::vector<bool> columns;  // .row and .col
    std::string_view what;      // of wmma: "a", "b", "c", "d"
    std::uint8_t mode = 0;
    unsigned columns_of_b = 0;  // the shape's n, which may be 256
  };
  MatrixWords matrix_words() const;
  std::vector<SlotId> matrix_registers(const ptx::InstructionOperand& operand, unsigned count,
                                       Type type, bool writes);
  void matrix_multiply(bool fragments);
  std::uint8_t sparsity_selector(MatrixType type, unsigned k, std::size_t place) const;
  void mma();
  void wmma();
  void matrix_rows();
  void matrix_transpose();

  // lower_wgmma.cc
  void wgmma();
  void wgmma_order();
  void set_registers();
  template <typename F>
  void each_register(std::uint32_t flat, F&& f);
  void survey_wgmma();
  void check_wgmma_registers();

  // lower_control.cc
  void branch();
  void branch_indexed();
  void exit();
  void ret();
  void call();
  void call_builtin(const Builtin& builtin, const CallSite& site);
  void bind_arguments(const ptx::InstructionOperand* group,
                      const std::vector<ptx::Variable>* declared, bool passes, CallSite* site);
  std::uint32_t reserve_local(std::uint32_t bytes, std::uint32_t align);
  void transfer_local(SlotId slot, std::uint32_t place, bool is_store);
  void transfer_declared(const std::vector<ptx::Variable>& list,
                         const std::vector<std::uint32_t>& places, bool is_store);
  void trap();
  void barrier();
  void nop();

  // lower_cluster.cc
  void cluster_barrier();
  void map_address();
  void rank_of_address();
  Address generic_of_cluster(const Address& where);

  // lower_stack.cc
  void allocate_on_stack();
  void save_stack();
  void restore_stack();
  Type stack_type();

  // lower_texture.cc
  void texture();
  void surface();
  void surface_reduction();
  void texture_query();
  SlotId texture_handle(const ptx::InstructionOperand& place, std::size_t parts);
  std::vector<SlotId> texture_coordinates(const ptx::InstructionOperand& written,
                                          unsigned dimensions, bool has_layer, Type type);

  // lower_warp.cc
  void shuffle();
  void vote();
  void activemask();
  void match();
  void redux();
  void elect();
  void warp_barrier();
  void nanosleep();
  void griddepcontrol();

  void dispatch(const ptx::Form& form);
  void not_simulated();
  [[noreturn]] void not_known();  // there is no row for the instruction

  KernelLowering& shared_;
  const ptx::Function& source_;
  DecodedFunction* target_;
  ptx::FlatFunction flat_;
  ptx::ControlFlow flow_;
  FunctionBuilder builder_;
  const OpTable& ops_;

  std::unordered_map<const ptx::Variable*, std::vector<RegisterFacts>> registers_;
  std::unordered_set<SlotId> fixed_;
  std::unordered_map<SlotId, SlotId> aliases_;
  std::unordered_map<SlotId, std::uint32_t> writes_;  // static count of a register's definitions
  std::unordered_map<SlotId, std::uint32_t> written_at_;  // by flat instruction, the last one
  std::unordered_map<SlotId, std::vector<std::uint32_t>> uses_;     // likewise
  std::unordered_map<const ptx::Variable*, std::uint32_t> locals_;  // .local and .param variables
  std::unordered_map<const ptx::Variable*, std::uint32_t> kernel_params_;
  std::vector<bool> joins_;
  SlotId carry_ = kSink;
  std::vector<Group> groups_;
  std::uint8_t next_pattern_ = 0;
  std::vector<std::pair<SlotId, std::uint32_t>> returned_;  // by the call at hand, and its place
  std::deque<std::vector<std::uint32_t>> branch_lists_;

  // Of functions with wgmma.
  std::vector<WgmmaStep> wgmma_steps_;
  std::unique_ptr<WgmmaFlow> wgmma_flow_;

  // The instruction at hand.
  std::uint32_t index_ = 0;
  const ptx::FlatInstruction* at_ = nullptr;
  const ptx::Instruction* insn_ = nullptr;
  bool guard_done_ = false;
};

}  // namespace baton::sim
