import type { BuildDetail, BuildLine } from '@sandyard/dashboard-contract/templates'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import type { Database } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readBuildLines, readNewestLines } from '../../operations/builds/read-build-lines.ts'
import { readBuildDetail } from '../../operations/builds/read-builds.ts'
import { GAP, SharedTopic } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseUuid } from './topic-argument.ts'
import { digest } from './whole-source.ts'

/** Lines of a build are not notified. */
const EVERY_MS = 1000
const MAX_LINES = 1000
/** Lines may still be written so long after the end. */
const SETTLE_MS = 10_000

interface Whole {
  /** Undefined: nothing changes any more. */
  readonly build?: BuildDetail
  readonly lines: readonly BuildLine[]
}

interface Kept {
  readonly build: string
  readonly lastLine: number
  readonly isOver: boolean
}

/** `build:<id>`: lines by count and by bytes; what does not fit into a patch comes with the next one. */
export function makeBuildTopic({ db }: Database): MakeTopic {
  return ({ teamId, argument, inTurn }) => {
    const buildId = parseUuid(argument)
    const readBuild = async (): Promise<BuildDetail> => {
      const build = await readBuildDetail(db, teamId, buildId)
      if (build === undefined) throw new AppError('not_found', 'There is no such build')
      return build
    }
    return new SharedTopic<Whole, Kept, Topics['build']['patch']>(
      {
        everyMs: EVERY_MS,
        read: async () => ({ build: await readBuild(), lines: await readNewestLines(db, buildId, MAX_LINES) }),
        readNew: async ({ lastLine, isOver }) => {
          if (isOver) return { lines: [] }
          const build = await readBuild()
          return { build, lines: (await readBuildLines(db, buildId, { after: lastLine, limit: MAX_LINES })).lines }
        },
        keep: ({ build, lines }, before) => ({
          build: build === undefined ? (before?.build ?? '') : digest(build),
          lastLine: lines.at(-1)?.number ?? before?.lastLine ?? 0,
          isOver: build === undefined || isSettled(build),
        }),
        changes: patchOf,
        hears: (change) => change.kind === 'build' && change.id === buildId,
      },
      inTurn,
    )
  }
}

function isSettled({ finishedAt }: BuildDetail): boolean {
  return finishedAt !== null && Date.now() - Date.parse(finishedAt) > SETTLE_MS
}

function patchOf(kept: Kept, { build, lines }: Whole): Topics['build']['patch'] | typeof GAP | undefined {
  const fresh = lines.filter(({ number }) => number > kept.lastLine)
  // Numbers have no gaps: what is between does not fit into a patch.
  if (fresh[0] !== undefined && fresh[0].number > kept.lastLine + 1) return GAP
  const changed = build !== undefined && digest(build) !== kept.build ? { build } : undefined
  if (changed === undefined && fresh.length === 0) return undefined
  return { ...changed, ...(fresh.length > 0 && { lines: fresh }) }
}
