import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { CpuCount, DiskSizeMb, MemoryMb } from '../numbers.ts'
import { DateTime } from '../times.ts'
import { SandboxNetworkRules } from './network.ts'

const clientID = Type.String({ deprecated: true, description: 'A constant' })
const envdVersion = Type.String({ description: 'Version of the in-sandbox daemon' })

export const SandboxMetadata = Type.Record(Type.String(), Type.String(), { title: 'SandboxMetadata' })

export const SandboxState = Type.Unsafe<'running' | 'paused'>({ type: 'string', enum: ['running', 'paused'], title: 'SandboxState' })

export const SandboxVolumeMount = Type.Object(
  {
    name: Type.String({ description: 'Name of the volume' }),
    path: Type.String({ description: 'Mount point in the sandbox' }),
    readOnly: Type.Optional(Type.Boolean({ description: 'The sandbox cannot write it' })),
  },
  { title: 'SandboxVolumeMount' },
)

/** The answer of create, connect, resume and fork (control-plane.md 6.1.1). */
export const Sandbox = Type.Object(
  {
    templateID: Type.String(),
    sandboxID: Type.String(),
    clientID,
    envdVersion,
    alias: Type.Optional(Type.String({ description: 'Alias of the template' })),
    envdAccessToken: Type.Optional(Type.String({ description: 'Token for the in-sandbox interface; absent when it is open' })),
    trafficAccessToken: Type.Optional(Nullable(Type.String({ description: 'Token for sandbox traffic that is not public' }))),
    domain: Type.Optional(Nullable(Type.String({ description: 'Domain of sandbox URLs, with its port where there is one' }))),
  },
  { title: 'Sandbox' },
)
export type Sandbox = Static<typeof Sandbox>

export const SandboxLifecycle = Type.Object(
  {
    autoResume: Type.Boolean({ description: 'Traffic wakes the sandbox when it is paused' }),
    onTimeout: Type.Unsafe<'kill' | 'pause'>({ type: 'string', enum: ['kill', 'pause'], description: 'What happens at the end time' }),
  },
  { title: 'SandboxLifecycle' },
)

/** `network` in answers (control-plane.md 6.1.4). Its lists are never null. */
export const SandboxNetwork = Type.Object(
  {
    allowPublicTraffic: Type.Optional(Type.Boolean()),
    allowOut: Type.Optional(Type.Array(Type.String())),
    denyOut: Type.Optional(Type.Array(Type.String())),
    maskRequestHost: Type.Optional(Type.String()),
    httpsPorts: Type.Optional(Type.Array(Type.Integer())),
    dnsServers: Type.Optional(Type.Array(Type.String())),
    rules: Type.Optional(SandboxNetworkRules),
    egressProxy: Type.Optional(
      Type.Object(
        {
          address: Type.String({ description: 'host:port of a SOCKS5 proxy' }),
          username: Type.Optional(Type.String()),
          tls: Type.Optional(Type.Object({ enabled: Type.Boolean(), serverName: Type.Optional(Type.String()) })),
        },
        { description: 'Without its password' },
      ),
    ),
  },
  { title: 'SandboxNetwork' },
)
export type SandboxNetwork = Static<typeof SandboxNetwork>

export const SandboxPauseMode = Type.Unsafe<'full' | 'filesystem'>({
  type: 'string',
  enum: ['full', 'filesystem'],
  description: 'What a paused sandbox keeps: memory and files, or files; absent unless it is paused',
})

const listed = {
  templateID: Type.String({ description: 'Template that the sandbox was created from' }),
  alias: Type.Optional(Type.String({ description: 'Alias of the template' })),
  sandboxID: Type.String(),
  clientID,
  startedAt: DateTime('Start of the current run, or of the last one'),
  endAt: DateTime('When the sandbox expires, or was paused'),
  cpuCount: CpuCount,
  memoryMB: MemoryMb,
  diskSizeMB: DiskSizeMb,
  metadata: Type.Optional(SandboxMetadata),
  state: SandboxState,
  envdVersion,
  volumeMounts: Type.Optional(Type.Array(SandboxVolumeMount)),
  envdUnresponsiveAtPause: Type.Optional(
    Type.Boolean({ description: 'The in-sandbox daemon did not answer when it was paused; absent otherwise' }),
  ),
}

/** An item of both list operations (control-plane.md 6.1.3): no tokens, no network, no lifecycle. */
export const ListedSandbox = Type.Object(listed, { title: 'ListedSandbox' })
export type ListedSandbox = Static<typeof ListedSandbox>

/** One sandbox (control-plane.md 6.1.2; the explicit nulls are 22.2 D6 and D7). */
export const SandboxDetail = Type.Object(
  {
    ...listed,
    envdAccessToken: Type.Optional(Nullable(Type.String({ description: 'Token for the in-sandbox interface; null when it is open' }))),
    allowInternetAccess: Type.Optional(Nullable(Type.Boolean({ description: 'Null when it was not set' }))),
    domain: Type.Optional(Nullable(Type.String({ deprecated: true, description: 'Always null' }))),
    network: Type.Optional(SandboxNetwork),
    lifecycle: Type.Optional(SandboxLifecycle),
    pauseMode: Type.Optional(SandboxPauseMode),
  },
  { title: 'SandboxDetail' },
)
export type SandboxDetail = Static<typeof SandboxDetail>
