import type { BuildLogEntry, BuildStatusReason, TemplateBuildInfo } from '@sandyard/api-contract/builds/build-info'
import type { Db } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'
import { toWireStatus } from '../../templates/wire-status.ts'
import { FAILURES } from '../build-failure.ts'
import { listLogsByOffset, listWarnings, type LogRow } from './build-logs.ts'
import type { Build } from '../find-build.ts'

interface LogPage {
  readonly offset: number
  readonly limit: number
  readonly level: LogLevel | undefined
}

/**
 * The answer for pollers (control-plane.md 10.6). The build was read before its log: the end and the last lines are committed together, so
 * an ended build always has its whole log.
 */
export async function getBuildInfo(db: Db, build: Build, page: LogPage): Promise<TemplateBuildInfo> {
  const { buildId } = build
  const status = toWireStatus(build.status)
  const rows = status === 'waiting' ? [] : await listLogsByOffset(db, { buildId, ...page })
  return {
    templateID: build.templateId,
    buildID: buildId,
    status,
    logEntries: rows.map(toLogEntry),
    // Current clients print the entries; only first-generation clients read text lines.
    logs: build.builderVersion === 'v1' ? rows.map(toLine) : [],
    ...(status === 'error' && { reason: await getReason(db, build) }),
  }
}

async function getReason(db: Db, { buildId, reason }: Build): Promise<BuildStatusReason> {
  const { message, step } = reason ?? { message: FAILURES.internal, step: undefined }
  if (step === undefined) return { message, logEntries: [] }
  return { message, step, logEntries: (await listWarnings(db, buildId, step)).map(toLogEntry) }
}

export function toLogEntry({ time, message, level, step }: LogRow): BuildLogEntry {
  return { timestamp: time.toISOString(), message, level, ...(step !== null && { step }) }
}

function toLine({ time, message }: LogRow): string {
  return `[${time.toISOString()}] ${message}\n`
}
