import { sql, type Insertable } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { BuildTable } from '@sandyard/db/schema/build'
import type { SandboxResources } from '@sandyard/runtime/types'
import { ENVD_VERSION } from '../../daemon/daemon-version.ts'

export interface NewBuild {
  readonly templateId: string
  readonly resources: SandboxResources
  /** Assigned to the build at once. */
  readonly tags: readonly string[]
  readonly more?: Partial<Insertable<BuildTable>>
}

/** Inserts a build that waits, with its tags. @returns its id */
export async function insertBuild(tx: Tx, { templateId, resources, tags, more = {} }: NewBuild): Promise<string> {
  const now = sql<Date>`clock_timestamp()`
  const { build_id } = await tx
    .insertInto('build')
    .values({
      template_id: templateId,
      status: 'waiting',
      cpu_count: resources.cpuCount,
      memory_mib: resources.memoryMib,
      disk_mib: resources.diskMib,
      // The defaults of a base; the end of the build stores the final values.
      default_user: 'user',
      default_workdir: '/home/user',
      envd_version: ENVD_VERSION,
      created_at: now,
      updated_at: now,
      ...more,
    })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('tag_assignment')
    .values(tags.map((tag) => ({ template_id: templateId, build_id, tag })))
    .execute()
  return build_id
}
