import type { ListedSandbox, Sandbox, SandboxDetail } from '@sandyard/api-contract/sandboxes/sandbox'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import type { LiveSandboxRow } from './sandbox-queries.ts'

/** Deprecated but required on the wire (control-plane.md 2.1). */
const CLIENT_ID = '6532622b'
/** The version in answers for a daemon whose version is unknown (control-plane.md 6.1.2). */
const UNKNOWN_ENVD_VERSION = '1.0.0'

/** The source of the answer of a create, connect, resume or fork. It is also stored for idempotency keys. */
export interface SandboxAnswer {
  readonly sandboxId: string
  readonly templateId: string
  readonly alias: string | null
  readonly envdVersion: string | null
  readonly isSecure: boolean
}

export interface ViewParts {
  readonly tokenSeed: Secret
  /** The domain of sandbox URLs, with a port if there is one. */
  readonly domain: string
}

export function toAnswer(row: LiveSandboxRow): SandboxAnswer {
  return {
    sandboxId: row.sandbox_id,
    templateId: row.template_id,
    alias: row.alias,
    envdVersion: row.envd_version,
    isSecure: row.is_secure,
  }
}

export function toSandbox(answer: SandboxAnswer, { tokenSeed, domain }: ViewParts): Sandbox {
  return {
    templateID: answer.templateId,
    sandboxID: answer.sandboxId,
    clientID: CLIENT_ID,
    envdVersion: answer.envdVersion ?? UNKNOWN_ENVD_VERSION,
    ...(answer.alias !== null && { alias: answer.alias }),
    ...(answer.isSecure && { envdAccessToken: sandboxAccessToken(tokenSeed, answer.sandboxId) }),
    domain,
  }
}

export function toListedSandbox(row: LiveSandboxRow): ListedSandbox {
  return {
    templateID: row.template_id,
    alias: row.alias ?? '',
    sandboxID: row.sandbox_id,
    clientID: CLIENT_ID,
    startedAt: row.started_at.toISOString(),
    endAt: row.expires_at.toISOString(),
    cpuCount: row.cpu_count,
    memoryMB: row.memory_mib,
    diskSizeMB: row.disk_mib,
    metadata: row.metadata,
    state: row.state === 'paused' || row.state === 'pausing' ? 'paused' : 'running',
    envdVersion: row.envd_version ?? UNKNOWN_ENVD_VERSION,
    volumeMounts: [],
  }
}

/** Every field of the seed's table, with explicit nulls (control-plane.md 22.2 D6-D9). */
export function toSandboxDetail(row: LiveSandboxRow, tokenSeed: Secret): SandboxDetail {
  return {
    ...toListedSandbox(row),
    envdAccessToken: row.is_secure ? sandboxAccessToken(tokenSeed, row.sandbox_id) : null,
    allowInternetAccess: row.allow_internet_access,
    domain: null,
    network: { allowPublicTraffic: true, allowOut: [], denyOut: [] },
    lifecycle: { autoResume: false, onTimeout: 'kill' },
  }
}
