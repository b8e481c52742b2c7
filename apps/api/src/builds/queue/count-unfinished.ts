import type { Db } from '@sandyard/db/database'

/** The registered and running builds of a team. Does not count builds that are ending or builds of deleted templates. */
export async function countUnfinished(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .leftJoin('build_job', 'build_job.build_id', 'build.build_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('template.team_id', '=', teamId)
    .where('template.deleted_at', 'is', null)
    .where('build.status', 'in', ['pending', 'waiting', 'in_progress', 'building'])
    .where('build_job.cancel_reason', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
