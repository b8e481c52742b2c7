/** The paths of /proc and /sys that a container does not see, and those that it cannot write. */
export interface SystemPaths {
  readonly masked: readonly string[]
  readonly readOnly: readonly string[]
}

/**
 * Without a user namespace root in a sandbox owns these files. The lists of the newest engines and, beside them: files that show the
 * memory of the host or the addresses in its kernel (`kallsyms`, `kmsg`, `kpage*`, `pagetypeinfo`, `slabinfo`, `vmallocinfo`, `notes`), the
 * keyrings of others (`key-users`), and settings of the kernel that root may write (`dynamic_debug`, `mtrr`). No path is in the lists that
 * ps, top, free, lscpu or a browser reads.
 */
export const SYSTEM_PATHS: SystemPaths = {
  masked: words(`
    /proc/acpi /proc/asound /proc/dynamic_debug /proc/interrupts /proc/kallsyms /proc/kcore /proc/key-users /proc/keys /proc/kmsg
    /proc/kpagecgroup /proc/kpagecount /proc/kpageflags /proc/latency_stats /proc/pagetypeinfo /proc/sched_debug /proc/scsi /proc/slabinfo
    /proc/timer_list /proc/timer_stats /proc/vmallocinfo /sys/devices/virtual/powercap /sys/firmware /sys/kernel/notes`),
  readOnly: words('/proc/bus /proc/fs /proc/irq /proc/mtrr /proc/sys /proc/sysrq-trigger'),
}

/** A list in a request replaces the engine's own list, which may have more paths than ours: those of a newer engine, and one for each processor. */
export function withDefaults(paths: SystemPaths, defaults: SystemPaths): SystemPaths {
  return { masked: union(paths.masked, defaults.masked), readOnly: union(paths.readOnly, defaults.readOnly) }
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return [...new Set([...left, ...right])].sort()
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
