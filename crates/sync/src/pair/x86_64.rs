//! 128-bit atomics of x86-64: `vmovdqa` loads, `cmpxchg16b` writes.

use core::arch::asm;
use core::arch::x86_64::__m128i;
use core::sync::atomic::Ordering;

use crate::word::Word;

/// The processor has AVX and `cmpxchg16b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proof(());

impl Proof {
    pub(super) fn detect() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        (has!("avx") && has!("cmpxchg16b")).then_some(Self(()))
    }

    /// Loads 128 bits. x86 moves no later access before a load, so every load is an Acquire; since
    /// every write here is a locked instruction, it is also a SeqCst load. The compiler moves no
    /// memory access across the assembly.
    ///
    /// # Safety
    ///
    /// The two words at the address are valid for atomic accesses, and 16-byte aligned.
    #[inline(always)]
    pub(super) unsafe fn load(self, words: *const Word, order: Ordering) -> u128 {
        // ORDERING: the caller's. These two are no orderings of a load.
        let is_load = !matches!(order, Ordering::Release | Ordering::AcqRel);
        assert!(is_load, "a load cannot have this ordering");
        let value: __m128i;
        // SAFETY: the caller vouches for the address, and `self` proves that the processor has AVX.
        unsafe {
            asm!(
                "vmovdqa {value}, xmmword ptr [{words}]",
                words = in(reg) words,
                value = out(xmm_reg) value,
                options(nostack, preserves_flags),
            );
        }
        // SAFETY: both types have 128 bits and accept any bits.
        unsafe { core::mem::transmute::<__m128i, u128>(value) }
    }

    /// Replaces `old` by `new`. Returns `old`, or as an error the bits found instead.
    ///
    /// The instruction has the strongest ordering, whatever the caller asks for.
    ///
    /// # Safety
    ///
    /// As for [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn compare_exchange(
        self,
        words: *const Word,
        old: u128,
        new: u128,
        _: Ordering,
    ) -> Result<u128, u128> {
        let (low, high, equal): (u64, u64, u64);
        // SAFETY: the caller vouches for the address; a `Word` may be written through a shared
        // reference; and `self` proves that the processor has the instruction. It takes the low
        // half of `new` from rbx, which the compiler reserves: the first and the last instruction
        // swap it in and restore it.
        unsafe {
            asm!(
                "xchg {saved}, rbx",
                "lock cmpxchg16b xmmword ptr [rdi]",
                "sete cl",
                "mov rbx, {saved}",
                saved = inout(reg) new as u64 => _,
                in("rdi") words,
                inout("rax") old as u64 => low,
                inout("rdx") (old >> 64) as u64 => high,
                inout("rcx") (new >> 64) as u64 => equal,
                options(nostack),
            );
        }
        let now = u128::from(high) << 64 | u128::from(low);
        // `sete` set the lowest byte only.
        if equal as u8 != 0 { Ok(now) } else { Err(now) }
    }
}
