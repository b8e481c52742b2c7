import type { Db } from '@sandyard/db/database'
import type { BuildPlan } from '../builds/build-plan.ts'

export interface Progress {
  readonly steps: number
  /** The step that runs, from 1; undefined before the first and after the last one. */
  readonly step: number | undefined
  readonly lastLine: string | undefined
}

/** How far an unfinished build is. */
export async function readProgress(db: Db, buildId: string): Promise<Progress> {
  const [job, line] = await Promise.all([
    db.selectFrom('build_job').select('plan').where('build_id', '=', buildId).executeTakeFirst(),
    db
      .selectFrom('build_log')
      .select(['step', 'message'])
      .where('build_id', '=', buildId)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ])
  const step = Number(line?.step ?? Number.NaN)
  return {
    steps: (job?.plan as BuildPlan | undefined)?.steps.length ?? 0,
    step: Number.isInteger(step) ? step : undefined,
    lastLine: line?.message,
  }
}
