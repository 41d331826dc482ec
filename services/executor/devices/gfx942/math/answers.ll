; What ocml asks its user, with hipcc's answers: exact and complete mathematics, on gfx942. As IR, because a constant of
; HIP may be changed by the host, and then nothing is folded.
target triple = "amdgcn-amd-amdhsa"

@__oclc_finite_only_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_unsafe_math_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_daz_opt = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 0, align 1
@__oclc_correctly_rounded_sqrt32 = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 1, align 1
@__oclc_wavefrontsize64 = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 1, align 1
@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 9402, align 4
@__oclc_ABI_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 500, align 4
