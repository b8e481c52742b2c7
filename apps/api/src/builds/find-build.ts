import type { Db } from '@sandyard/db/database'
import type { BuilderVersion, BuildStatus } from '@sandyard/db/schema/build'
import type { TemplateTable } from '@sandyard/db/schema/template'
import { isUuid } from '@sandyard/kit/ids/uuid'

/** A build as requests see it. */
export interface Build {
  readonly buildId: string
  readonly templateId: string
  /** The team of its template. */
  readonly ownerId: string
  readonly isTemplateDeleted: boolean
  /** A snapshot of a sandbox made its template. */
  readonly isSnapshot: boolean
  readonly status: BuildStatus
  readonly builderVersion: BuilderVersion | undefined
  readonly startsItself: boolean
  readonly dockerfile: string | undefined
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  readonly reason: { readonly message: string; readonly step: string | undefined } | undefined
}

const TEMPLATE_ID = /^[a-z0-9]+$/

/** The id in lower case; undefined if the text is not an id. */
export function parseBuildId(text: string): string | undefined {
  const id = text.toLowerCase()
  return isUuid(id) ? id : undefined
}

/** The build of exactly this template id; names are not resolved. `templateId` is raw text from the path, `buildId` a UUID. */
export async function findBuild(db: Db, templateId: string, buildId: string): Promise<Build | undefined> {
  if (!TEMPLATE_ID.test(templateId)) return undefined
  const row = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .select(['build.build_id', 'build.template_id', 'template.team_id', 'template.deleted_at', 'build.status', 'build.builder_version'])
    .select([
      'template.source',
      'build.starts_itself',
      'build.dockerfile',
      'build.start_cmd',
      'build.ready_cmd',
      'build.reason_message',
      'build.reason_step',
    ])
    .where('build.build_id', '=', buildId)
    .where('build.template_id', '=', templateId)
    .executeTakeFirst()
  return row && toBuild(row)
}

interface Row {
  readonly build_id: string
  readonly template_id: string
  readonly team_id: string
  readonly deleted_at: Date | null
  readonly source: TemplateTable['source']
  readonly status: BuildStatus
  readonly builder_version: BuilderVersion | null
  readonly starts_itself: boolean
  readonly dockerfile: string | null
  readonly start_cmd: string | null
  readonly ready_cmd: string | null
  readonly reason_message: string | null
  readonly reason_step: string | null
}

function toBuild(row: Row): Build {
  return {
    buildId: row.build_id,
    templateId: row.template_id,
    ownerId: row.team_id,
    isTemplateDeleted: row.deleted_at !== null,
    isSnapshot: row.source === 'snapshot_template',
    status: row.status,
    builderVersion: row.builder_version ?? undefined,
    startsItself: row.starts_itself,
    dockerfile: row.dockerfile ?? undefined,
    startCmd: row.start_cmd ?? undefined,
    readyCmd: row.ready_cmd ?? undefined,
    reason: row.reason_message === null ? undefined : { message: row.reason_message, step: row.reason_step ?? undefined },
  }
}
