import type { ListedSandbox, Sandbox, SandboxDetail } from '@sandyard/api-contract/sandboxes/sandbox'
import { sandboxAccessToken, sandboxTrafficToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { isPublic } from '../network/stored-network.ts'
import { toNetwork } from './network-view.ts'
import type { LiveSandboxRow } from '../sandbox-queries.ts'

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
  /** Its ports need no traffic token. Absent in answers that an earlier release stored: public. */
  readonly isPublic?: boolean
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
    isPublic: isPublic(row.network),
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
    ...(answer.isPublic === false && { trafficAccessToken: sandboxTrafficToken(tokenSeed, answer.sandboxId) }),
    domain,
  }
}

/** While it pauses, is paused or resumes, its end time is the pause (control-plane.md 6.1.2, 17.2); one in progress began at its change of state. */
export function toListedSandbox(row: LiveSandboxRow): ListedSandbox {
  const isPaused = row.state === 'pausing' || row.state === 'paused' || row.state === 'resuming'
  return {
    templateID: row.template_id,
    alias: row.alias ?? '',
    sandboxID: row.sandbox_id,
    clientID: CLIENT_ID,
    startedAt: row.started_at.toISOString(),
    endAt: (isPaused ? (row.paused_at ?? row.state_changed_at) : row.expires_at).toISOString(),
    cpuCount: row.cpu_count,
    memoryMB: row.memory_mib,
    diskSizeMB: row.disk_mib,
    metadata: row.metadata,
    state: isPaused ? 'paused' : 'running',
    envdVersion: row.envd_version ?? UNKNOWN_ENVD_VERSION,
    volumeMounts: row.volume_mounts.map(({ name, path, readOnly }) => ({ name, path, ...(readOnly === true && { readOnly }) })),
    ...(isPaused && row.unresponsive_at_pause && { envdUnresponsiveAtPause: true }),
  }
}

/**
 * Every field of the seed's table, with explicit nulls (control-plane.md 22.2 D6-D9).
 *
 * @param mayConnect - whether the caller gets the token of the daemon
 */
export function toSandboxDetail(row: LiveSandboxRow, tokenSeed: Secret, { mayConnect }: { readonly mayConnect: boolean }): SandboxDetail {
  return {
    ...toListedSandbox(row),
    envdAccessToken: mayConnect && row.is_secure ? sandboxAccessToken(tokenSeed, row.sandbox_id) : null,
    allowInternetAccess: row.allow_internet_access,
    domain: null,
    network: toNetwork(row.network),
    lifecycle: { autoResume: row.auto_resume, onTimeout: row.auto_pause ? 'pause' : 'kill' },
    ...(row.state === 'paused' && { pauseMode: row.pause_keep === 'files' ? 'filesystem' : 'full' }),
  }
}
