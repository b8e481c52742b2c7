import { existsSync, readFileSync } from 'node:fs'

/** The capabilities of Linux in the order of their numbers, as far as engine 20.10 knows them. */
const CAPABILITIES = `
CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST
NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM
BLOCK_SUSPEND AUDIT_READ
`
  .trim()
  .split(/\s+/)
const DEVICES = ['/dev/kmsg', '/dev/fuse', '/dev/kvm', '/dev/loop-control']

/**
 * Options of a container that may do what no sandbox may. Not `Privileged`: an engine that lacks a capability itself, as in some virtual
 * machines, refuses that.
 */
export function allRights() {
  return {
    CapAdd: ownCapabilities(),
    SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
    MaskedPaths: [],
    ReadonlyPaths: [],
    CgroupnsMode: 'host' as const,
    ShmSize: 1024 ** 3,
    DeviceCgroupRules: ['b *:* rwm', 'c *:* rwm'],
    Devices: DEVICES.filter((path) => existsSync(path)).map((path) => ({
      PathOnHost: path,
      PathInContainer: path,
      CgroupPermissions: 'rwm',
    })),
    Binds: ['/sys:/sys', '/sys/fs/cgroup:/sys/fs/cgroup'],
  }
}

/** What this process, and so an engine on the same machine, may have at most. */
function ownCapabilities(): string[] {
  const bits = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`)
  return CAPABILITIES.filter((_, number) => ((bits >> BigInt(number)) & 1n) === 1n)
}
