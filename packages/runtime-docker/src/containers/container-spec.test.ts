import { describe, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { DEFAULT_EGRESS, type SandboxSpec } from '@sandyard/runtime/types'
import { containerSpec, type ContainerPlan } from './container-spec.ts'

const plan: ContainerPlan = {
  installation: 'home',
  ociRuntime: 'runc',
  pidsLimit: 4096,
  diskLimit: false,
  network: 'none',
  resolvers: ['10.0.0.53'],
  writesResolvers: false,
  ipv6Loopback: true,
  maxOpenFiles: 1_048_576,
  seccomp: undefined,
  systemPaths: { masked: ['/proc/keys'], readOnly: ['/proc/sys'] },
  daemon: {
    volume: 'sandyard-daemon-1',
    labels: { 'sandyard.role': 'daemon-volume' },
    mount: '/opt/sandyard',
    command: ['/opt/sandyard/daemon', '--listen'],
  },
}
const spec: SandboxSpec = {
  sandboxId: 'i1',
  incarnation: 2,
  image: 'template:1',
  resources: { cpuCount: 2, memoryMib: 1024, diskMib: 5120 },
  instanceKey: new Secret('key of i1'),
  allowPrivilegeGain: true,
  mounts: [],
  egress: DEFAULT_EGRESS,
}

describe('containerSpec', () => {
  const { HostConfig: host = {}, ...container } = containerSpec(plan, spec, 'other:1')

  it('runs the daemon as root for any user of the image', () => {
    expect(container).toMatchObject({
      Image: 'other:1',
      User: '0:0',
      WorkingDir: '/',
      Entrypoint: ['/opt/sandyard/daemon', '--listen', `-instance=${secretDigest('key of i1')}`],
      Cmd: [],
      Healthcheck: { Test: ['NONE'] },
    })
    expect(host).toMatchObject({ Init: true, RestartPolicy: { Name: 'no' }, NetworkMode: 'none' })
  })

  it('labels the container with its identity, and as no member of the control plane', () => {
    expect(container.Labels).toEqual({
      'sandyard.installation': 'home',
      'sandyard.role': 'sandbox',
      'sandyard.sandbox-id': 'i1',
      'sandyard.incarnation': '2',
      'sandyard.spec': JSON.stringify({ resources: spec.resources, allowPrivilegeGain: true, mounts: [] }),
      'sandyard.member': '',
    })
  })

  it('tells the daemon where its instance key is, and removes variables that change its behaviour', () => {
    const env = container.Env ?? []
    expect(env).toEqual(expect.arrayContaining(['LD_PRELOAD', 'NODE_OPTIONS', 'OPENSSL_CONF']))
    expect(env.filter((entry) => entry.includes('='))).toEqual(['SANDYARD_INSTANCE_FILE=/proc/1/cmdline'])
  })

  it('contains no instance key, and its digest only in the arguments', () => {
    expect(JSON.stringify({ container, host })).not.toContain('key of i1')
    expect(JSON.stringify({ ...container, Entrypoint: [], host })).not.toContain(secretDigest('key of i1'))
  })

  it('mounts the volumes of the sandbox beside the daemon, without files of the image', () => {
    const mounts = [
      { volume: 'v1', path: '/data', readOnly: false },
      { volume: 'v2', path: '/in', readOnly: true },
    ]
    const { HostConfig: { Mounts: found = [] } = {} } = containerSpec(plan, { ...spec, mounts }, 'other:1')
    const [, first, second] = found
    expect(found).toHaveLength(3)
    expect(first).toMatchObject({ Type: 'volume', Target: '/data', ReadOnly: false, VolumeOptions: { NoCopy: true } })
    expect(second).toMatchObject({ Target: '/in', ReadOnly: true })
    expect(first?.VolumeOptions?.Labels).toEqual({ 'sandyard.installation': 'home', 'sandyard.role': 'volume', 'sandyard.volume': 'v1' })
    expect(new Set(found.map(({ Source }) => Source)).size).toBe(3)
  })

  it('mounts only the daemon, read-only', () => {
    expect(host.Binds ?? []).toEqual([])
    expect(host.Devices ?? []).toEqual([])
    expect(host.Mounts).toEqual([
      expect.objectContaining({ Type: 'volume', Source: 'sandyard-daemon-1', Target: '/opt/sandyard', ReadOnly: true }),
    ])
  })

  it('drops all capabilities except the listed ones', () => {
    expect(host.CapDrop).toEqual(['ALL'])
    const dangerous = 'NET_ADMIN NET_RAW SYS_ADMIN SYS_PTRACE SYS_MODULE SYS_RAWIO SYS_TIME SYS_BOOT MKNOD SETFCAP SETPCAP BPF PERFMON'
    expect(host.CapAdd?.filter((name: string) => dangerous.split(' ').includes(name))).toEqual([])
    expect(host.Privileged).toBe(false)
  })

  it('limits memory without swap, processors, processes, files and logs', () => {
    expect(host).toMatchObject({
      Memory: 1024 ** 3,
      MemorySwap: 1024 ** 3,
      ShmSize: 1024 ** 3 / 2,
      CpuPeriod: 100_000,
      CpuQuota: 200_000,
      PidsLimit: 4096,
      OomScoreAdj: 200,
      LogConfig: { Type: 'local', Config: { 'max-size': '1m' } },
    })
    expect(host.StorageOpt).toBeUndefined()
  })

  it.for<[string, Partial<ContainerPlan>, Partial<SandboxSpec>, object]>([
    ['privileges may grow, for sudo', {}, {}, { SecurityOpt: [] }],
    ['a seccomp profile', { seccomp: '{}' }, { allowPrivilegeGain: false }, { SecurityOpt: ['seccomp={}', 'no-new-privileges'] }],
    ['masked and read-only paths', {}, {}, { MaskedPaths: ['/proc/keys'], ReadonlyPaths: ['/proc/sys'] }],
    ['privileges may not grow', {}, { allowPrivilegeGain: false }, { SecurityOpt: ['no-new-privileges'] }],
    ['a disk limit where the storage has it', { diskLimit: true }, {}, { StorageOpt: { size: '5120m' } }],
    ['IPv6 on the loopback interface', {}, {}, { Sysctls: { 'net.ipv6.conf.lo.disable_ipv6': '0' } }],
    [
      'another OCI runtime, with its network from the start',
      { ociRuntime: 'runsc', network: 'n' },
      {},
      { Runtime: 'runsc', NetworkMode: 'n' },
    ],
    ['resolvers, and no search domains of the host', {}, {}, { Dns: ['10.0.0.53'], DnsSearch: ['.'] }],
    [
      'as many files as the engine can give',
      { maxOpenFiles: 20_000 },
      {},
      {
        Ulimits: [
          { Name: 'nofile', Soft: 20_000, Hard: 20_000 },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
      },
    ],
    [
      'a sane number of files of an engine without a limit',
      { maxOpenFiles: Infinity },
      {},
      {
        Ulimits: [
          { Name: 'nofile', Soft: 65_536, Hard: 524_288 },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
      },
    ],
    [
      'no limit of open files when the maximum of the engine is unknown',
      { maxOpenFiles: undefined },
      {},
      { Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }] },
    ],
    ['half a processor', {}, { resources: { cpuCount: 0.5, memoryMib: 128, diskMib: 1 } }, { CpuQuota: 50_000 }],
  ])('has %s', ([, planChange, specChange, expected]) => {
    const { HostConfig } = containerSpec({ ...plan, ...planChange }, { ...spec, ...specChange }, 'image:1')
    expect(HostConfig).toMatchObject(expected)
  })

  it('sets no IPv6 option on a host without IPv6', () => {
    expect(containerSpec({ ...plan, ipv6Loopback: false }, spec, 'image:1').HostConfig?.Sysctls).toBeUndefined()
  })
})
