import type { ReadyMadeTemplate } from '@sandyard/api-contract/templates/ready-made'
import type { Db } from '@sandyard/db/database'
import type { Manifest } from '@sandyard/templates/manifest'
import { msUntilRetry } from './back-off.ts'
import { isUnfinished, type ReadyMadeBuild, type ReadyMadeState } from './ready-made-state.ts'
import { readProgress } from './read-progress.ts'

/** A ready-made template with the progress of its unfinished build. */
export async function toReadyMadeTemplate(
  db: Db,
  { manifest, state }: { readonly manifest: Manifest; readonly state: ReadyMadeState },
): Promise<ReadyMadeTemplate> {
  const { installed, newest, isTaken, templateId } = state
  const unfinished = newest !== undefined && isUnfinished(newest) ? newest : undefined
  return {
    name: manifest.name,
    description: manifest.description,
    state: stateOf(state, unfinished),
    version: manifest.version,
    installedVersion: installed?.version ?? null,
    isOutdated: installed !== undefined && manifest.version > installed.version,
    templateID: isTaken ? null : (templateId ?? null),
    build: unfinished === undefined ? null : await toBuild(db, unfinished),
    failure: newest?.status === 'failed' ? toFailure(newest, state) : null,
  }
}

function stateOf({ isTaken, installed, newest }: ReadyMadeState, unfinished: ReadyMadeBuild | undefined): ReadyMadeTemplate['state'] {
  if (isTaken) return 'taken'
  if (installed !== undefined) return 'installed'
  if (unfinished !== undefined) return 'building'
  return newest === undefined ? 'absent' : 'failed'
}

async function toBuild(db: Db, { buildId, version, createdAt }: ReadyMadeBuild): Promise<ReadyMadeTemplate['build']> {
  const { steps, step, lastLine } = await readProgress(db, buildId)
  return { buildID: buildId, version, startedAt: createdAt.toISOString(), steps, step: step ?? null, lastLine: lastLine ?? null }
}

function toFailure({ buildId, reason, finishedAt }: ReadyMadeBuild, state: ReadyMadeState): ReadyMadeTemplate['failure'] {
  return {
    buildID: buildId,
    message: reason ?? 'an internal error occurred',
    failedAt: (finishedAt ?? new Date()).toISOString(),
    retryAt: new Date(Date.now() + msUntilRetry(state)).toISOString(),
  }
}
