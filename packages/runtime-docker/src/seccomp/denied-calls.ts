/** A group of system calls that sandboxes cannot make, with the reason. SECURITY.md has the same list. */
export interface Denial {
  readonly reason: string
  readonly calls: readonly string[]
}

/**
 * System calls that the profile denies because attacks on kernels use them. Package managers, browsers, and debuggers that trace processes of
 * the same user do not need them. The profile lists the allowed calls, so it also denies every call that is in neither list.
 */
export const DENIALS: readonly Denial[] = [
  {
    reason: 'asynchronous I/O by a ring bypasses the filter and has had many kernel flaws',
    calls: words('io_uring_enter io_uring_register io_uring_setup'),
  },
  { reason: 'keyrings of the kernel are not separated by container', calls: words('add_key keyctl request_key') },
  { reason: 'programs that run in the kernel', calls: words('bpf perf_event_open') },
  { reason: 'page faults that user code handles make races in the kernel winnable', calls: ['userfaultfd'] },
  {
    reason: 'mounts and other root file systems',
    calls: words('fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree open_tree_attr pivot_root umount umount2'),
  },
  {
    reason: 'other kernels and code in this one',
    calls: words('create_module delete_module finit_module init_module kexec_file_load kexec_load'),
  },
  { reason: 'files by handle, outside of the container too', calls: ['open_by_handle_at'] },
  { reason: 'descriptors and memory of processes of others', calls: words('kcmp pidfd_getfd process_madvise') },
  { reason: 'namespaces; unshare and clone are allowed without namespaces', calls: ['setns'] },
  {
    reason: 'the clock, the name, the log and the accounting of the host',
    calls: words('acct clock_settime reboot sethostname setdomainname settimeofday swapoff swapon syslog'),
  },
  { reason: 'ports of devices', calls: words('ioperm iopl') },
  { reason: 'sockets of any family on 32-bit x86, because a filter cannot see the family', calls: ['socketcall'] },
  { reason: 'old calls without users', calls: words('lookup_dcookie nfsservctl quotactl quotactl_fd uselib vm86 vm86old') },
]

export const DENIED_CALLS: readonly string[] = DENIALS.flatMap(({ calls }) => calls)

/** The families of sockets that every container may open, by their numbers. All others are denied. */
export const ALLOWED_FAMILIES: Readonly<Record<string, number>> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 }

/**
 * Denied families that attacks use. AF_PACKET and AF_XDP send frames past rules for packets, AF_VSOCK reaches the hypervisor of the host
 * past every rule, AF_ALG is the kernel's cryptography (CVE-2026-31431).
 */
export const DENIED_FAMILIES: Readonly<Record<string, number>> = { AF_PACKET: 17, AF_ALG: 38, AF_VSOCK: 40, AF_XDP: 44 }

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
