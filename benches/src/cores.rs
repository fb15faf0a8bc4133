//! A core for each thread, so that threads that are measured together do run together.

/// Binds the calling thread to one core of those that it may run on: the `index`th, round and round. Where
/// there is no way to do so, nothing.
pub fn bind(index: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let Ok(all) = sched_getaffinity(None) else { return };
        let cores = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core));
        let count = cores.clone().count();
        if let Some(core) = cores.clone().nth(index % count.max(1)) {
            let mut one = CpuSet::new();
            one.set(core);
            // A refusal only makes the figures noisier.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = index;
}
