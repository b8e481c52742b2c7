import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import type { ImageRef, SandboxSpec } from '@sandyard/runtime/types'
import { sandboxLabels } from '../labels.ts'
import { MASKED_ENV } from './masked-env.ts'

/** What of a container does not depend on the sandbox. */
export interface ContainerPlan {
  readonly installation: string
  readonly ociRuntime: string
  readonly pidsLimit: number
  readonly diskLimit: boolean
  /** `none` where the network is connected later, after its rules; else the sandbox network. */
  readonly network: string
  /** Where names are looked up; the same addresses are open in the egress rules. */
  readonly resolvers: readonly string[]
  /** IPv6 on the loopback interface, where the host's kernel has IPv6 at all. */
  readonly ipv6Loopback: boolean
  /** The most that the engine can give; unknown where there is no guard to tell. */
  readonly maxOpenFiles: number | undefined
  readonly daemon: { readonly volume: string; readonly mount: string; readonly command: readonly string[] }
}

const MIB = 1024 ** 2
const CPU_PERIOD_MICROSECONDS = 100_000

/**
 * All that root inside keeps; everything else of root's power is dropped. Kept, because sudo, su, apt, dpkg and servers need it:
 * CHOWN, DAC_OVERRIDE, FOWNER, FSETID (packages own and set modes of any file), SETUID, SETGID (sudo, su, apt's own user, and the
 * daemon, which starts processes as any user), KILL (root ends anyone's process), SYS_CHROOT (sshd, chroot), NET_BIND_SERVICE
 * (ports below 1024), AUDIT_WRITE (without it sudo writes a complaint to every standard error).
 *
 * Of the engine's own default these are missing: NET_RAW (forged packets), MKNOD (device nodes), SETPCAP, and SETFCAP: without
 * it the package of ping falls back to a set-uid program, which works, where file capabilities would not.
 */
export const KEPT_CAPABILITIES = 'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETGID SETUID SYS_CHROOT'.split(' ')

/** The container of a sandbox. The seccomp and AppArmor profiles are the engine's defaults, because nothing here says otherwise. */
export function containerSpec(plan: ContainerPlan, spec: SandboxSpec, image: ImageRef): ContainerCreateOptions {
  return {
    Image: image,
    Hostname: 'sandbox',
    // By number: an image need not have a file of users.
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: [...plan.daemon.command],
    Cmd: [],
    // A name without "=" removes the image's variable.
    Env: [...MASKED_ENV, ...Object.entries(spec.daemonEnv).map(([name, value]) => `${name}=${value}`)],
    Labels: sandboxLabels(plan.installation, spec),
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(plan, spec),
  }
}

function hostConfig(plan: ContainerPlan, { resources, allowPrivilegeGain }: SandboxSpec): HostConfig & { CgroupnsMode: string } {
  const memoryBytes = resources.memoryMib * MIB
  return {
    Runtime: plan.ociRuntime,
    Init: true,
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2', compress: 'false' } },

    CapDrop: ['ALL'],
    CapAdd: KEPT_CAPABILITIES,
    SecurityOpt: allowPrivilegeGain ? [] : ['no-new-privileges'],
    Privileged: false,
    IpcMode: 'private',
    CgroupnsMode: 'private',

    Memory: memoryBytes,
    // Together with swap: the same number means no swap.
    MemorySwap: memoryBytes,
    // Not NanoCpus: the engine refuses more of those than the host has.
    CpuPeriod: CPU_PERIOD_MICROSECONDS,
    CpuQuota: Math.round(resources.cpuCount * CPU_PERIOD_MICROSECONDS),
    PidsLimit: plan.pidsLimit,
    Ulimits: ulimits(plan.maxOpenFiles),
    // Half of the memory, as a machine of that size would have it; browsers need more than the engine's 64 MiB.
    ShmSize: Math.floor(memoryBytes / 2),
    ...(plan.diskLimit ? { StorageOpt: { size: `${resources.diskMib}m` } } : {}),

    Mounts: [
      {
        Type: 'volume',
        Source: plan.daemon.volume,
        Target: plan.daemon.mount,
        ReadOnly: true,
        VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
      },
    ],
    NetworkMode: plan.network,
    Dns: [...plan.resolvers],
    // No search domains: the host's own would tell where it stands.
    DnsSearch: ['.'],
    ...(plan.ipv6Loopback ? { Sysctls: { 'net.ipv6.conf.lo.disable_ipv6': '0' } } : {}),
  }
}

/** Engines without a limit of their own give a billion of files, and programs that close them all one by one take minutes to start. */
function ulimits(maxOpenFiles: number | undefined): NonNullable<HostConfig['Ulimits']> {
  const core = { Name: 'core', Soft: 0, Hard: 0 }
  if (maxOpenFiles === undefined) return [core]
  return [{ Name: 'nofile', Soft: Math.min(maxOpenFiles, 65_536), Hard: Math.min(maxOpenFiles, 524_288) }, core]
}
