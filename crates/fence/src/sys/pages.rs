//! Large pages for large memory: a hundred megabytes in small ones cost the kernel 25,000 faults.

/// Asks for large pages behind memory that is about to be filled. Where the kernel has none, nothing changes.
pub(crate) fn prefer_large(memory: &mut [u8]) {
    const PAGE: usize = 4096;
    let start = memory.as_mut_ptr() as usize;
    let (first, end) = (start.next_multiple_of(PAGE), (start + memory.len()) / PAGE * PAGE);
    if first >= end {
        return;
    }
    // SAFETY: the range lies within `memory`, which is the caller's alone. The advice changes neither what is in it nor
    // whether it may be touched, and a refusal changes nothing.
    unsafe {
        libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE);
    }
}
