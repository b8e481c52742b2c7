import type { Selectable } from 'kysely'
import { TEMPLATE_DEFAULTS } from '@sandyard/api-contract/builds/register-build'
import type { Template } from '@sandyard/api-contract/templates/template'
import type { TemplateBuild, TemplateWithBuilds } from '@sandyard/api-contract/templates/template-with-builds'
import type { BuildTable } from '@sandyard/db/schema/build'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import { ENVD_VERSION } from '../daemon/daemon-version.ts'
import { toAliases, type TemplateRow } from './template-rows.ts'
import { toWireStatus } from './wire-status.ts'

/**
 * An item of a list (control-plane.md 9.1.1, 22.2 D1). Sizes are those of the ready build, else those of the newest build, else the
 * defaults. Without a build, the version is the one that the server installs.
 * Without a ready build, the build id is the nil UUID.
 */
export function toTemplate(row: TemplateRow): Template {
  return {
    templateID: row.template_id,
    buildID: row.ready_build_id ?? NIL_UUID,
    cpuCount: row.cpu_count ?? TEMPLATE_DEFAULTS.cpuCount,
    memoryMB: row.memory_mib ?? TEMPLATE_DEFAULTS.memoryMb,
    diskSizeMB: row.disk_mib ?? 0,
    public: row.is_public,
    aliases: toAliases(row.names),
    names: row.names,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    createdBy: row.user_id === null || row.user_email === null ? null : { id: row.user_id, email: row.user_email },
    lastSpawnedAt: row.last_spawned_at?.toISOString() ?? null,
    spawnCount: row.spawn_count,
    buildCount: row.build_count,
    envdVersion: row.envd_version ?? ENVD_VERSION,
    buildStatus: row.latest_status === null ? 'waiting' : toWireStatus(row.latest_status),
    isDefault: row.is_default,
  }
}

/** A template of another team, without usage data (clients-python-2.63.md 7). */
export function toForeignTemplate(row: TemplateRow): Template {
  return { ...toTemplate(row), createdBy: null, lastSpawnedAt: null, spawnCount: 0, buildCount: 0 }
}

export type BuildRow = Pick<
  Selectable<BuildTable>,
  'build_id' | 'status' | 'created_at' | 'updated_at' | 'finished_at' | 'cpu_count' | 'memory_mib' | 'disk_mib' | 'envd_version'
>

export function toTemplateWithBuilds(row: TemplateRow, builds: readonly BuildRow[]): TemplateWithBuilds {
  return { ...toTemplate(row), builds: builds.map(toTemplateBuild) }
}

function toTemplateBuild(row: BuildRow): TemplateBuild {
  return {
    buildID: row.build_id,
    status: toWireStatus(row.status),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.finished_at !== null && { finishedAt: row.finished_at.toISOString() }),
    cpuCount: row.cpu_count,
    memoryMB: row.memory_mib,
    diskSizeMB: row.disk_mib,
    ...(row.envd_version !== null && { envdVersion: row.envd_version }),
  }
}
