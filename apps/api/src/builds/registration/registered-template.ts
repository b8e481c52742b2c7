import type { Db } from '@sandyard/db/database'
import type { BuildStatus } from '@sandyard/db/schema/build'
import type { User } from '../../teams/team.ts'
import { lastSpawnedAt, spawnCount } from '../../templates/spawn-counts.ts'
import { listNames, toAliases } from '../../templates/template-rows.ts'

/** A template and the build that was just registered for it. */
export interface RegisteredTemplate {
  readonly templateId: string
  readonly buildId: string
  readonly isPublic: boolean
  readonly aliases: readonly string[]
  /** Aliases with their namespaces. */
  readonly names: readonly string[]
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly createdBy: User | undefined
  readonly lastSpawnedAt: Date | undefined
  readonly spawnCount: number
  readonly buildCount: number
  readonly build: {
    readonly status: BuildStatus
    readonly cpuCount: number
    readonly memoryMib: number
    readonly diskMib: number
    readonly envdVersion: string | undefined
  }
}

/** @throws Error when the build does not exist, which no request can cause */
export async function getRegisteredTemplate(db: Db, buildId: string): Promise<RegisteredTemplate> {
  const row = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .leftJoin('app_user', 'app_user.id', 'template.created_by')
    .selectAll('template')
    .select([spawnCount.as('spawn_count'), lastSpawnedAt.as('last_spawned_at')])
    .select(['build.build_id', 'build.status', 'build.cpu_count', 'build.memory_mib', 'build.disk_mib', 'build.envd_version'])
    .select(['app_user.id as user_id', 'app_user.email as user_email'])
    .where('build.build_id', '=', buildId)
    .executeTakeFirstOrThrow()
  const names = await listNames(db, row.template_id)
  return {
    templateId: row.template_id,
    buildId: row.build_id,
    isPublic: row.is_public,
    aliases: toAliases(names),
    names,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: row.user_id === null || row.user_email === null ? undefined : { id: row.user_id, email: row.user_email },
    lastSpawnedAt: row.last_spawned_at ?? undefined,
    spawnCount: row.spawn_count,
    buildCount: row.build_count,
    build: {
      status: row.status,
      cpuCount: row.cpu_count,
      memoryMib: row.memory_mib,
      diskMib: row.disk_mib,
      envdVersion: row.envd_version ?? undefined,
    },
  }
}
