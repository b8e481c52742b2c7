import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxEndpoint, SandboxRef, SandboxSpec } from '@sandyard/runtime/types'
import { daemonEnv } from '../daemon/daemon-env.ts'
import { initDaemon } from '../daemon/init-daemon.ts'
import type { ReadyBuild } from '../templates/template.ts'
import { beginEnd, finishEnd } from './end-sandbox.ts'
import { rememberAnswer } from './idempotency.ts'
import type { SandboxAnswer } from './sandbox-view.ts'
import { changeState } from './sandbox-state.ts'
import { runStartCommand } from './run-start-command.ts'
import { startError } from './start-errors.ts'
import type { StartsUnderWay } from './starts-under-way.ts'

export interface StartParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly tokenSeed: Secret
  readonly log: Logger
  readonly starts: StartsUnderWay
  /** For the whole start; far enough below the age at which reservations are taken for abandoned. */
  readonly startTimeoutMs: number
}

/** A reserved sandbox, about to be started. */
export interface Reservation extends SandboxRef {
  readonly templateId: string
  /** The template's name, as it is shown. */
  readonly alias: string | undefined
  readonly build: ReadyBuild
  readonly isSecure: boolean
  readonly envVars: Readonly<Record<string, string>>
  readonly lifetimeSeconds: number
  /** There is an idempotency key that waits for the answer. */
  readonly isRepeatable: boolean
}

/**
 * Starts a reserved sandbox and returns once its daemon serves and its row says `running`. Its lifetime counts from then. On
 * failure all of it is undone; what cannot be undone now the reconciler undoes.
 *
 * @throws AppError of control-plane.md 6.2.4
 */
export async function startSandbox(parts: StartParts, reservation: Reservation): Promise<SandboxAnswer> {
  try {
    const endpoint = await parts.starts.run(reservation, (ended) => bringUp(parts, reservation, ended))
    return await parts.database.transaction((tx) => markRunning(tx, reservation, endpoint))
  } catch (err) {
    parts.log.warn({ err, sandboxId: reservation.sandboxId }, 'sandbox start failed')
    await undo(parts, reservation)
    throw startError(err)
  }
}

async function bringUp(parts: StartParts, reservation: Reservation, ended: AbortSignal): Promise<SandboxEndpoint> {
  const { sandboxId, templateId, build, isSecure } = reservation
  const accessToken = isSecure ? sandboxAccessToken(parts.tokenSeed, sandboxId) : undefined
  const signal = AbortSignal.any([ended, AbortSignal.timeout(parts.startTimeoutMs)])
  const times = [performance.now()]
  const endpoint = await parts.runtime.create(toSpec(reservation, parts.tokenSeed, accessToken), signal)
  times.push(performance.now())
  const envVars = { ...build.env, ...reservation.envVars }
  const { defaultUser, defaultWorkdir } = build
  await initDaemon(endpoint, { ...(accessToken !== undefined && { accessToken }), envVars, defaultUser, defaultWorkdir }, signal)
  times.push(performance.now())
  await runStartCommand({ endpoint, accessToken }, { build, envVars: reservation.envVars }, signal)
  times.push(performance.now())
  const [runtimeMs, daemonMs, startCommandMs] = times.slice(1).map((time, at) => Math.round(time - (times[at] ?? time)))
  parts.log.info({ sandboxId, templateId, runtimeMs, daemonMs, startCommandMs }, 'sandbox serves')
  return endpoint
}

function toSpec(reservation: Reservation, tokenSeed: Secret, token: string | undefined): SandboxSpec {
  const { sandboxId, incarnation, templateId, build } = reservation
  const { buildId, image, cpuCount, memoryMib, diskMib } = build
  return {
    sandboxId,
    incarnation,
    image,
    resources: { cpuCount, memoryMib, diskMib },
    daemonEnv: daemonEnv({ sandboxId, templateId, buildId, token }, tokenSeed),
    allowPrivilegeGain: true,
  }
}

/** The row, the template's counters, the event and the remembered answer change together or not at all. */
async function markRunning(tx: Tx, reservation: Reservation, endpoint: SandboxEndpoint): Promise<SandboxAnswer> {
  const { sandboxId, templateId, alias, build, isSecure, isRepeatable, lifetimeSeconds } = reservation
  const isOurs = await changeState(tx, reservation, { to: 'running', event: { kind: 'sandbox.running' }, endpoint, lifetimeSeconds })
  if (!isOurs) throw new Error('the reservation was given up meanwhile')
  const answer = { sandboxId, templateId, alias: alias ?? null, envdVersion: build.envdVersion ?? null, isSecure }
  if (isRepeatable) await rememberAnswer(tx, answer)
  // Last, because every start of the template waits for this row.
  await tx
    .updateTable('template')
    .set((eb) => ({ spawn_count: eb('spawn_count', '+', 1), last_spawned_at: sql<Date>`clock_timestamp()` }))
    .where('template_id', '=', templateId)
    .execute()
  return answer
}

/** Also undoes a start whose commit was not confirmed: nobody was told of the sandbox. */
async function undo(parts: StartParts, ref: SandboxRef): Promise<void> {
  try {
    await beginEnd(parts.database, ref, 'create_failed')
    await finishEnd(parts, ref)
  } catch (err) {
    parts.log.error({ err, sandboxId: ref.sandboxId }, 'failed sandbox start was not undone yet')
  }
}
