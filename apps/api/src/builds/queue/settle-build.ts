import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { UNFINISHED_BUILD_STATUSES } from '@sandyard/db/schema/build'
import { ENVD_VERSION } from '../../daemon/daemon-version.ts'
import { appendEvent } from '../../events/event-log.ts'
import type { BuildResult } from '../build-plan.ts'
import type { StepName } from '../build-runner.ts'
import { appendLog, type StoredLine } from './append-log.ts'
import { storableText } from './storable-text.ts'

export type BuildOutcome =
  | { readonly kind: 'ready'; readonly result: BuildResult }
  | { readonly kind: 'failed'; readonly message: string; readonly step?: StepName | undefined }

/**
 * Ends a build. One transaction changes the status, the result or reason, the last log lines, the template's time and the event, and
 * deletes the job with all its secrets.
 *
 * @returns false when the build had ended already; then nothing has changed
 */
export async function settleBuild(tx: Tx, buildId: string, outcome: BuildOutcome, lastLines: readonly StoredLine[] = []): Promise<boolean> {
  const now = sql<Date>`clock_timestamp()`
  const ended = await tx
    .updateTable('build')
    .set({ ...toColumns(outcome), finished_at: now, updated_at: now })
    .where('build_id', '=', buildId)
    .where('status', 'in', UNFINISHED_BUILD_STATUSES)
    .returning('template_id')
    .executeTakeFirst()
  if (ended === undefined) return false
  const job = await tx.deleteFrom('build_job').where('build_id', '=', buildId).returning('started_at').executeTakeFirst()
  await appendLog(tx, buildId, [...lastLines, closingLine(outcome, job?.started_at ?? undefined)])
  const { team_id: teamId } = await tx
    .updateTable('template')
    .set({ updated_at: now })
    .where('template_id', '=', ended.template_id)
    .returning('team_id')
    .executeTakeFirstOrThrow()
  const data = outcome.kind === 'ready' ? { buildId } : { buildId, message: storableText(outcome.message), step: outcome.step }
  const kind = outcome.kind === 'ready' ? 'template.built' : 'template.build_failed'
  await appendEvent(tx, { teamId, kind, subject: ended.template_id, data })
  return true
}

function toColumns(outcome: BuildOutcome) {
  if (outcome.kind === 'failed') {
    return { status: 'failed' as const, reason_message: storableText(outcome.message), reason_step: outcome.step ?? null }
  }
  const { image, defaultUser, defaultWorkdir, env, startCmd, readyCmd, startContext } = outcome.result
  return {
    status: 'uploaded' as const,
    image,
    default_user: defaultUser,
    default_workdir: defaultWorkdir,
    env: JSON.stringify(env),
    start_cmd: startCmd ?? null,
    ready_cmd: readyCmd ?? null,
    start_context: startContext === undefined ? null : JSON.stringify(startContext),
    envd_version: ENVD_VERSION,
  }
}

/** The last line of every log (control-plane.md 11.7). */
function closingLine(outcome: BuildOutcome, startedAt: Date | undefined): StoredLine {
  const time = new Date()
  if (outcome.kind === 'failed') {
    return { time, level: 'error', message: storableText(`Build failed: ${outcome.message}`), step: outcome.step }
  }
  return { time, level: 'info', message: `Build finished, took ${duration(time.getTime() - (startedAt ?? time).getTime())}` }
}

/** `850ms`, `12.4s`, `3m7s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.floor(ms))}ms`
  const seconds = ms / 1000
  return seconds < 60 ? `${(Math.floor(seconds * 10) / 10).toFixed(1)}s` : `${Math.floor(seconds / 60)}m${Math.floor(seconds % 60)}s`
}
