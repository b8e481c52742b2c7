import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import type { ImageRef, SandboxSpec } from '@sandyard/runtime/types'
import { LABEL, sandboxLabels } from '../labels.ts'
import { MASKED_ENV } from './masked-env.ts'
import { writeSpec } from './spec-label.ts'
import type { SystemPaths } from './system-paths.ts'
import { daemonMount, volumeMount } from './volume-mount.ts'

/** The settings of a container that are the same for all sandboxes. */
export interface ContainerPlan {
  readonly installation: string
  readonly ociRuntime: string
  readonly pidsLimit: number
  readonly diskLimit: boolean
  /** The sandbox network. */
  readonly network: string
  /** The DNS resolvers; the egress rules open the same addresses. */
  readonly resolvers: readonly string[]
  /** The daemon writes the resolvers into the sandbox, because it cannot reach the engine's own resolver. */
  readonly writesResolvers: boolean
  /** Enables IPv6 on the loopback interface. True when the host's kernel has IPv6. */
  readonly ipv6Loopback: boolean
  /** The highest limit that the engine can set; undefined when no guard runs that reports it. */
  readonly maxOpenFiles: number | undefined
  /** The seccomp profile as JSON; undefined for the engine's default. */
  readonly seccomp: string | undefined
  /** They replace the lists of the engine. */
  readonly systemPaths: SystemPaths
  readonly daemon: {
    readonly volume: string
    /** The engine creates a removed volume again, with these labels. */
    readonly labels: Readonly<Record<string, string>>
    readonly mount: string
    readonly command: readonly string[]
  }
}

/**
 * Where the daemon reads the digest of the instance key: in the arguments of the container's first process. Only the engine sets them, they are
 * there before the daemon, and they are the same after a restart of the container (docs/decisions/011-daemon-identity.md).
 */
const INSTANCE_FILE = '/proc/1/cmdline'

const MIB = 1024 ** 2
/**
 * Of -1000 to 1000, in thousandths of the memory of the host. Low enough for programs that give their own processes a higher one, as the kernels of the code
 * interpreter do (500). A sandbox cannot lower it, unless the engine itself runs without CAP_SYS_RESOURCE.
 */
const OOM_SCORE = 200
const CPU_PERIOD_MICROSECONDS = 100_000

/**
 * The capabilities of root in a sandbox; all others are dropped. sudo, su, apt, dpkg and servers need these:
 * CHOWN, DAC_OVERRIDE, FOWNER, FSETID (packages own and set modes of any file), SETUID, SETGID (sudo, su, apt's own user, and the
 * daemon, which starts processes as any user), KILL (root ends anyone's process), SYS_CHROOT (sshd, chroot), NET_BIND_SERVICE
 * (ports below 1024), AUDIT_WRITE (without it sudo prints a warning on every standard error).
 *
 * These capabilities of the engine's default are missing: NET_RAW (forged packets), MKNOD (device nodes), SETPCAP, and SETFCAP:
 * without SETFCAP the package of ping installs a set-uid program, which works; with file capabilities ping would not work.
 */
export const KEPT_CAPABILITIES = 'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETGID SETUID SYS_CHROOT'.split(' ')

/** The container of a sandbox. Without an option for it, AppArmor uses the engine's default profile. */
export function containerSpec(plan: ContainerPlan, spec: SandboxSpec, image: ImageRef): ContainerCreateOptions {
  return {
    Image: image,
    Hostname: 'sandbox',
    // By number, because an image may have no file of users.
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: [...plan.daemon.command, `-instance=${secretDigest(spec.instanceKey.reveal())}`],
    Cmd: [],
    // A name without "=" removes the image's variable.
    Env: [
      ...MASKED_ENV,
      `SANDYARD_INSTANCE_FILE=${INSTANCE_FILE}`,
      ...(plan.writesResolvers ? [`SANDYARD_RESOLVERS=${plan.resolvers.join(',')}`] : []),
    ],
    // An image cannot make its containers members of the control plane.
    Labels: { ...sandboxLabels(plan.installation, spec), [LABEL.spec]: writeSpec(spec), [LABEL.member]: '' },
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(plan, spec),
  }
}

function hostConfig(plan: ContainerPlan, { resources, allowPrivilegeGain, mounts }: SandboxSpec): HostConfig & { CgroupnsMode: string } {
  const memoryBytes = resources.memoryMib * MIB
  return {
    Runtime: plan.ociRuntime,
    Init: true,
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2', compress: 'false' } },

    CapDrop: ['ALL'],
    CapAdd: KEPT_CAPABILITIES,
    SecurityOpt: [...(plan.seccomp === undefined ? [] : [`seccomp=${plan.seccomp}`]), ...(allowPrivilegeGain ? [] : ['no-new-privileges'])],
    MaskedPaths: [...plan.systemPaths.masked],
    ReadonlyPaths: [...plan.systemPaths.readOnly],
    Privileged: false,
    IpcMode: 'private',
    CgroupnsMode: 'private',

    Memory: memoryBytes,
    // The sum of memory and swap: the same number means no swap.
    MemorySwap: memoryBytes,
    // Not NanoCpus: the engine refuses a number above the processors of the host.
    CpuPeriod: CPU_PERIOD_MICROSECONDS,
    CpuQuota: Math.round(resources.cpuCount * CPU_PERIOD_MICROSECONDS),
    PidsLimit: plan.pidsLimit,
    // When the host itself has no memory left, the kernel ends the largest process of a sandbox before Postgres, the engine or a server.
    OomScoreAdj: OOM_SCORE,
    Ulimits: ulimits(plan.maxOpenFiles),
    // Half of the memory, the default of Linux; browsers need more than the engine's 64 MiB.
    ShmSize: Math.floor(memoryBytes / 2),
    ...(plan.diskLimit ? { StorageOpt: { size: `${resources.diskMib}m` } } : {}),

    Mounts: [daemonMount(plan.daemon), ...mounts.map((mount) => volumeMount(plan.installation, mount))],
    NetworkMode: plan.network,
    Dns: [...plan.resolvers],
    // No search domains: the search domains of the host would reveal its network.
    DnsSearch: ['.'],
    ...(plan.ipv6Loopback ? { Sysctls: { 'net.ipv6.conf.lo.disable_ipv6': '0' } } : {}),
  }
}

/** Engines without a limit allow a billion files. Programs that close all possible files one by one then take minutes to start. */
export function ulimits(maxOpenFiles: number | undefined): NonNullable<HostConfig['Ulimits']> {
  const core = { Name: 'core', Soft: 0, Hard: 0 }
  if (maxOpenFiles === undefined) return [core]
  return [{ Name: 'nofile', Soft: Math.min(maxOpenFiles, 65_536), Hard: Math.min(maxOpenFiles, 524_288) }, core]
}
