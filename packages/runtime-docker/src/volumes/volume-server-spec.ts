import type { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import type { ContainerCreateOptions } from 'dockerode'
import { type ContainerPlan, ulimits } from '../containers/container-spec.ts'
import { daemonMount, volumeMount } from '../containers/volume-mount.ts'
import { EMPTY_IMAGE } from '../engine/empty-image.ts'
import { type Role, volumeLabels, volumeNames } from '../labels.ts'
import type { DriverConfig } from './volume-driver.ts'
import { placeMount } from './volume-place.ts'

export interface VolumeServerRequest {
  /** The name of the volume in the volume store. */
  readonly name: string
  readonly key: Secret
  /** The service's own command (`DaemonManifest.volumeServer`). */
  readonly command: readonly string[]
  readonly port: number
}

const MIB = 1024 ** 2
const MEMORY_MIB = 256
const PIDS_LIMIT = 64
const CPU_PERIOD_MICROSECONDS = 100_000
const ROOT = '/volume'

/** Root of the service writes files of every owner and mode, and makes the volume its root. */
const KEPT_CAPABILITIES = 'CHOWN DAC_OVERRIDE FOWNER FSETID SYS_CHROOT'.split(' ')

/** The command of a service with this key. */
export function volumeServerCommand({ command, key, port }: VolumeServerRequest): string[] {
  return [...command, `-root=${ROOT}`, `-port=${port}`, `-instance=${secretDigest(key.reveal())}`]
}

/** The container of the file service of one volume: no files but its own, which are read-only, and those of the volume. */
export function volumeServerSpec(plan: ContainerPlan, request: VolumeServerRequest): ContainerCreateOptions {
  return toSpec(plan, { name: request.name, role: 'volume-server', command: volumeServerCommand(request), readOnly: false })
}

type ToolRequest = Pick<VolumeServerRequest, 'name' | 'command'>

/** The container that measures one volume, which it only reads. */
export function volumeMeasureSpec(
  plan: ContainerPlan,
  { name, command, timeoutMs }: ToolRequest & { readonly timeoutMs: number },
): ContainerCreateOptions {
  const measuring = [...command, `-root=${ROOT}`, `-measure-ms=${timeoutMs}`]
  return toTool(toSpec(plan, { name, role: 'volume-tool', command: measuring, readOnly: true }))
}

/** The container that removes the directory of a volume, which has the place above it. */
export function volumeRemovalSpec(plan: ContainerPlan, { name, command }: ToolRequest, place: DriverConfig): ContainerCreateOptions {
  const removing = [...command, `-root=${ROOT}`, `-remove=${volumeNames(plan.installation, name).volume}`]
  const spec = toTool(toSpec(plan, { name, role: 'volume-tool', command: removing, readOnly: false }))
  return { ...spec, HostConfig: { ...spec.HostConfig, Mounts: [daemonMount(plan.daemon), placeMount(place, ROOT)] } }
}

/** Without a network, and its output is one stream. */
function toTool(spec: ContainerCreateOptions): ContainerCreateOptions {
  return { ...spec, Tty: true, HostConfig: { ...spec.HostConfig, NetworkMode: 'none', Dns: [], DnsSearch: [] } }
}

interface ServiceSpec {
  /** Of the volume. */
  readonly name: string
  readonly role: Role
  readonly command: readonly string[]
  readonly readOnly: boolean
}

function toSpec(plan: ContainerPlan, { name, role, command, readOnly }: ServiceSpec): ContainerCreateOptions {
  return {
    Image: EMPTY_IMAGE,
    Hostname: 'volume',
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: [...command],
    Cmd: [],
    Env: [],
    Labels: volumeLabels(plan.installation, name, role),
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      Runtime: plan.ociRuntime,
      Init: true,
      // It ends itself when it is not used.
      AutoRemove: true,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '1', compress: 'false' } },
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: KEPT_CAPABILITIES,
      SecurityOpt: [...(plan.seccomp === undefined ? [] : [`seccomp=${plan.seccomp}`]), 'no-new-privileges'],
      MaskedPaths: [...plan.systemPaths.masked],
      ReadonlyPaths: [...plan.systemPaths.readOnly],
      Privileged: false,
      IpcMode: 'private',
      CgroupnsMode: 'private',
      Memory: MEMORY_MIB * MIB,
      MemorySwap: MEMORY_MIB * MIB,
      CpuPeriod: CPU_PERIOD_MICROSECONDS,
      CpuQuota: CPU_PERIOD_MICROSECONDS,
      PidsLimit: PIDS_LIMIT,
      Ulimits: ulimits(plan.maxOpenFiles),
      Mounts: [daemonMount(plan.daemon), volumeMount(plan.installation, { volume: name, path: ROOT, readOnly })],
      NetworkMode: plan.network,
      Dns: [...plan.resolvers],
      DnsSearch: ['.'],
    } as ContainerCreateOptions['HostConfig'] & { CgroupnsMode: string },
  }
}
