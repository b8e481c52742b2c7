/**
 * The system calls that every container may make, by purpose. The names are those of the Docker engine's published default profile for a
 * container without capabilities (github.com/moby/profiles, seccomp/default_linux.go), without `DENIED_CALLS`. Names that are unknown to the
 * engine's libseccomp are ignored by it.
 */
const GROUPS: Readonly<Record<string, string>> = {
  files: `
    access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 fadvise64_64
    fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64 fdatasync flock fstat fstat64 fstatat64 fstatfs
    fstatfs64 fsync ftruncate ftruncate64 futimesat getcwd getdents getdents64 ioctl lchown lchown32 link linkat listmount _llseek lseek
    lstat lstat64 mkdir mkdirat mknod mknodat name_to_handle_at newfstatat open openat openat2 readahead readlink readlinkat rename renameat
    renameat2 rmdir stat stat64 statfs statfs64 statmount statx symlink symlinkat sync sync_file_range syncfs truncate truncate64 umask
    unlink unlinkat utime utimensat utimensat_time64 utimes`,
  attributes: `
    fgetxattr flistxattr fremovexattr fsetxattr getxattr getxattrat lgetxattr listxattr listxattrat llistxattr lremovexattr lsetxattr
    removexattr removexattrat setxattr setxattrat`,
  transfer: `
    io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit pipe pipe2 pread64 preadv preadv2 pwrite64
    pwritev pwritev2 read readv sendfile sendfile64 splice tee vmsplice write writev`,
  waiting: `
    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 fanotify_mark inotify_add_watch inotify_init
    inotify_init1 inotify_rm_watch _newselect pause poll ppoll ppoll_time64 pselect6 pselect6_time64 select signalfd signalfd4`,
  memory: `
    brk cachestat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap
    mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect process_mrelease remap_file_pages`,
  processes: `
    execve execveat exit exit_group fork getpgid getpgrp getpid getppid getpriority getrlimit getrusage getsid gettid ioprio_get ioprio_set
    kill pidfd_open pidfd_send_signal prctl prlimit64 restart_syscall rseq sched_getaffinity sched_getattr sched_getparam
    sched_get_priority_max sched_get_priority_min sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity
    sched_setattr sched_setparam sched_setscheduler sched_yield setpgid setpriority setrlimit setsid tgkill tkill ugetrlimit uretprobe
    vfork wait4 waitid waitpid`,
  threads: `
    futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake getcpu get_robust_list get_thread_area set_robust_list
    set_thread_area set_tid_address`,
  signals: `
    rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64
    rt_tgsigqueueinfo sigaltstack sigprocmask sigreturn`,
  identity: `
    capget capset getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getresgid getresgid32 getresuid getresuid32
    getuid getuid32 setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setregid setregid32 setresgid setresgid32
    setresuid setresuid32 setreuid setreuid32 setuid setuid32`,
  confinement: `landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp`,
  sockets: `
    accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmmsg_time64 recvmsg send sendmmsg
    sendmsg sendto setsockopt shutdown socketpair`,
  exchange: `
    ipc mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget
    msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget`,
  time: `
    adjtimex alarm clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
    clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create timer_delete timer_getoverrun timer_gettime
    timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times`,
  system: `getrandom sysinfo uname`,
}

export const ALLOWED_CALLS: readonly string[] = Object.values(GROUPS).flatMap(words)

/** Calls of one processor family, by the engine's names for it. */
export const PROCESSOR_CALLS: Readonly<Record<'amd64' | 'arm64', readonly string[]>> = {
  amd64: words('arch_prctl modify_ldt'),
  arm64: words('arm_fadvise64_64 arm_sync_file_range breakpoint cacheflush set_tls sync_file_range2'),
}

/**
 * Calls of containers with a capability. Sandboxes have only SYS_CHROOT of these; the others are for the other containers of an engine
 * whose default this profile is. Each call of `DENIED_CALLS` that is in this table is denied without the capability.
 */
export const CAPABILITY_CALLS: Readonly<Record<string, readonly string[]>> = {
  CAP_BPF: ['bpf'],
  CAP_DAC_READ_SEARCH: ['open_by_handle_at'],
  CAP_PERFMON: ['perf_event_open'],
  CAP_SYS_ADMIN: words(`
    bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie lsm_get_self_attr lsm_list_modules lsm_set_self_attr mount
    mount_setattr move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname sethostname setns syslog umount umount2 unshare`),
  CAP_SYS_BOOT: ['reboot'],
  CAP_SYS_CHROOT: ['chroot'],
  CAP_SYS_MODULE: words('delete_module finit_module init_module'),
  CAP_SYS_NICE: words('get_mempolicy mbind set_mempolicy set_mempolicy_home_node'),
  CAP_SYS_PACCT: ['acct'],
  CAP_SYS_PTRACE: words('kcmp pidfd_getfd process_madvise'),
  CAP_SYS_RAWIO: words('ioperm iopl'),
  CAP_SYS_TIME: words('clock_settime clock_settime64 settimeofday stime'),
  CAP_SYS_TTY_CONFIG: ['vhangup'],
  CAP_SYSLOG: ['syslog'],
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
