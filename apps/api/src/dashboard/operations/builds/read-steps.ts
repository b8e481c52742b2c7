import { sql } from 'kysely'
import type { BuildStep } from '@sandyard/dashboard-contract/templates'
import type { Db } from '@sandyard/db/database'
import type { BuildStatus } from '@sandyard/db/schema/build'
import { isUnfinished } from './is-unfinished.ts'

const MAX_STEPS = 500
/** Characters of an instruction; the lines have the whole. */
const MAX_TITLE = 300
/** The start of the key of a layer, after its instruction (layer-plan.ts). */
const KEY = / \[[0-9a-f]{12}\]$/

interface SteppedBuild {
  readonly build_id: string
  readonly status: BuildStatus
  readonly reason_step: string | null
  readonly finished_at: Date | null
}

interface StoredStep {
  readonly step: string
  readonly began_at: Date
  readonly ended_at: Date
  readonly title: string
}

/** The steps that have written lines, then those of the instructions that it has not reached. The first line of each step is its instruction. */
export async function readSteps(db: Db, build: SteppedBuild): Promise<BuildStep[]> {
  const { build_id, status, reason_step, finished_at } = build
  const { rows } = await sql<StoredStep>`
    select step, min(time) as began_at, max(time) as ended_at, (array_agg(left(message, ${MAX_TITLE}) order by seq))[1] as title
    from build_log where build_id = ${build_id} and step is not null group by step order by min(seq) limit ${MAX_STEPS}
  `.execute(db)
  const begun = rows.map(({ step, began_at, ended_at, title }, at): BuildStep => {
    const isLast = at === rows.length - 1
    const isRunning = isLast && isUnfinished(status)
    const isCached = title.startsWith('CACHED ')
    const end = rows[at + 1]?.began_at ?? finished_at ?? ended_at
    const failed = status === 'failed' && reason_step === step
    return {
      step,
      text: title
        .replace(/^CACHED /, '')
        .replace(/^\[[^\]]*\] /, '')
        .replace(KEY, ''),
      status: failed ? 'failed' : isRunning ? 'running' : isCached ? 'cached' : 'done',
      startedAt: began_at.toISOString(),
      durationMs: isRunning ? null : Math.max(0, end.getTime() - began_at.getTime()),
    }
  })
  if (status !== 'failed' && !isUnfinished(status)) return begun
  const rest = await readRest(db, build, Math.max(0, ...[reason_step, ...rows.map(({ step }) => step)].map((step) => numberOf(step))))
  return [...begun, ...rest].slice(0, MAX_STEPS)
}

/** The steps after the one with the number `reached`. Builds whose instructions were not kept have none. */
async function readRest(db: Db, { build_id, status }: SteppedBuild, reached: number): Promise<BuildStep[]> {
  const { rows } = await sql<{ readonly number: number; readonly text: string }>`
    select number::int, left(upper(step ->> 'type') || ' ' || coalesce((
      select string_agg(arg, ' ' order by at) from jsonb_array_elements_text(step -> 'args') with ordinality as args (arg, at)), ''), ${MAX_TITLE}) as text
    from build_plan, jsonb_array_elements(plan -> 'steps') with ordinality as steps (step, number)
    where build_id = ${build_id} and number > ${reached} order by number limit ${MAX_STEPS}
  `.execute(db)
  return rows.map(({ number, text }) => ({
    step: String(number),
    text: text.trim(),
    status: status === 'failed' ? 'skipped' : 'waiting',
    startedAt: null,
    durationMs: null,
  }))
}

/** 0 for the base and the end. */
function numberOf(step: string | null): number {
  return step !== null && /^\d+$/.test(step) ? Number(step) : 0
}
