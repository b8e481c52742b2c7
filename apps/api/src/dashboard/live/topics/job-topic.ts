import type { Database } from '@sandyard/db/database'
import type { Job } from '@sandyard/dashboard-contract/sandboxes'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readJob } from '../../jobs/read-job.ts'
import { SharedTopic } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseUuid } from './topic-argument.ts'
import { wholeSource } from './whole-source.ts'

/** A server that dies tells of nothing more. */
const EVERY_MS = 5000

/** `job:<id>` */
export function makeJobTopic(database: Database): MakeTopic {
  return ({ teamId, argument, inTurn }) => {
    const jobId = parseUuid(argument)
    const source = wholeSource<Job>({
      everyMs: EVERY_MS,
      read: async () => {
        const job = await readJob(database.db, teamId, jobId)
        if (job === undefined) throw new AppError('not_found', 'There is no such job')
        return job
      },
      hears: (change) => change.kind === 'job' && change.id === jobId,
    })
    return new SharedTopic(source, inTurn)
  }
}
