import { createReadStream } from 'node:fs'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { readArchive } from '@sandyard/kit/archive/read-archive'
import { serveJobs } from '../workers/serve-jobs.ts'

export interface ArchiveJob {
  readonly path: string
  readonly limits: ArchiveLimits
}

serveJobs(async ({ path, limits }: ArchiveJob): Promise<void> => {
  for await (const _ of readArchive(createReadStream(path), limits));
})
