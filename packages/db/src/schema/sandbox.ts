import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

export type SandboxState = 'starting' | 'running' | 'pausing' | 'paused' | 'resuming' | 'snapshotting' | 'killing'

/** A JSON object of texts: read as an object, written as JSON text. */
export type JsonTexts = ColumnType<Record<string, string>, string | undefined, string>

/** A JSON object: written as JSON text. */
export type JsonObject<T> = ColumnType<T, string | undefined, string>

/** The `network` of a create request, with the changes of later updates, as it is stored: only the fields that were set. */
export interface StoredNetwork extends StoredEgress {
  readonly allowPublicTraffic?: boolean
  readonly maskRequestHost?: string
  /** Ports whose services speak TLS. */
  readonly httpsPorts?: readonly number[]
}

/** The part that a network update replaces (control-plane.md 6.11, 18.3 to 18.6). */
export interface StoredEgress {
  /** Addresses, networks and domains. */
  readonly allowOut?: readonly string[]
  /** Addresses and networks. */
  readonly denyOut?: readonly string[]
  /** IPv4 addresses. They have an effect only when `allowOut` has a domain. */
  readonly dnsServers?: readonly string[]
  readonly egressProxy?: StoredEgressProxy
  /** By domain, in lower case, with `*.` as its first label or without. */
  readonly rules?: Readonly<Record<string, StoredRule>>
  /** Whether an update has denied what `allowOut` does not list. Absent: as `allow_internet_access` says, which keeps what was set last. */
  readonly denyInternet?: boolean
}

/** `password` is a secret: it is never in an answer, an event or a log. */
export interface StoredEgressProxy {
  /** `host:port`, in lower case. */
  readonly address: string
  readonly username?: string
  readonly password?: string
  /** Absent: the proxy is spoken to without TLS. */
  readonly tls?: StoredProxyTls
}

export interface StoredProxyTls {
  /** The name in its certificate. Absent: the host of the address. */
  readonly serverName?: string
  /** PEM. Replaces the authorities of the system. */
  readonly caCert?: string
}

export interface StoredRule {
  /** By name as the request wrote it. The values are secrets: they are in no event and no log. */
  readonly headers: Readonly<Record<string, string>>
}

export interface StoredVolumeMount {
  readonly volumeId: string
  readonly name: string
  /** Absolute, in the sandbox. */
  readonly path: string
  readonly readOnly?: boolean
}

export interface StoredIdentityToken {
  readonly audience: string
}

export interface SandboxTable {
  sandbox_id: string
  /** The number of this start of the id, from 1. */
  incarnation: number
  team_id: string
  template_id: string
  build_id: string
  alias: string | null
  state: SandboxState
  state_changed_at: DefaultedTime
  /** The address of the daemon while the sandbox runs. */
  endpoint_host: string | null
  endpoint_daemon_port: number | null
  is_secure: boolean
  metadata: JsonTexts
  /** Null when the request did not set it. */
  allow_internet_access: boolean | null
  /** At the end time it is paused, not killed. */
  auto_pause: Generated<boolean>
  /** That pause keeps memory. */
  auto_pause_memory: Generated<boolean>
  /** Traffic wakes it when it is paused with its memory. */
  auto_resume: Generated<boolean>
  /** Its lifetime after it was woken by traffic (control-plane.md 6.2.5). */
  auto_resume_seconds: Generated<number>
  network: JsonObject<StoredNetwork>
  /** Counts the network updates. */
  egress_version: Generated<number>
  /** The update whose policy the runtime has in force. Less than `egress_version`: it has to be told. */
  egress_applied: Generated<number>
  /** Until then a server tells the runtime. */
  egress_claimed_until: Date | null
  mcp: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  /** What the pause keeps; set while pausing, paused and resuming. */
  pause_keep: 'memory' | 'files' | null
  /** The handle of the runtime; set while paused and resuming. Only the runtime reads its fields. */
  pause_handle: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  /** When the pause was complete; null while it runs. */
  paused_at: Date | null
  /** The daemon did not answer when its memory was frozen. */
  unresponsive_at_pause: Generated<boolean>
  created_at: DefaultedTime
  started_at: Date | null
  /** The end time; set once it runs. */
  expires_at: Date | null
  /** The server that makes its transition: the start, the pause, the resume or the snapshot. */
  server_id: number | null
  /** Why it ends; set with the state `killing`. */
  end_reason: string | null
  volume_mounts: ColumnType<readonly StoredVolumeMount[], string | undefined, string>
  /** The identity tokens that its network rules may name. */
  iam: JsonObject<Readonly<Record<string, StoredIdentityToken>>>
  /** The server of its last start or resume; null for one from before release 0.2.0. */
  home_server_id: number | null
  /** Of the create that took it from the warm pool. */
  claim: string | null
  /** Its oldest runs, whose events were removed: how many, how long, and the last of these events. */
  forgotten_runs: Generated<number>
  forgotten_run_ms: Generated<number>
  forgotten_through: Generated<number>
}

export const sandboxColumns: Columns<SandboxTable> = {
  sandbox_id: 'text',
  incarnation: 'integer',
  team_id: 'uuid',
  template_id: 'text',
  build_id: 'uuid',
  alias: 'text null',
  state: 'text',
  state_changed_at: 'timestamp(3) with time zone',
  endpoint_host: 'text null',
  endpoint_daemon_port: 'integer null',
  is_secure: 'boolean',
  metadata: 'jsonb',
  allow_internet_access: 'boolean null',
  auto_pause: 'boolean',
  auto_pause_memory: 'boolean',
  auto_resume: 'boolean',
  auto_resume_seconds: 'integer',
  network: 'jsonb',
  egress_version: 'integer',
  egress_applied: 'integer',
  egress_claimed_until: 'timestamp(3) with time zone null',
  mcp: 'jsonb null',
  pause_keep: 'text null',
  pause_handle: 'jsonb null',
  paused_at: 'timestamp(3) with time zone null',
  unresponsive_at_pause: 'boolean',
  created_at: 'timestamp(3) with time zone',
  started_at: 'timestamp(3) with time zone null',
  expires_at: 'timestamp(3) with time zone null',
  server_id: 'integer null',
  end_reason: 'text null',
  volume_mounts: 'jsonb',
  iam: 'jsonb',
  home_server_id: 'integer null',
  claim: 'text null',
  forgotten_runs: 'integer',
  forgotten_run_ms: 'bigint',
  forgotten_through: 'bigint',
}
