import type { Database, Tx } from '@sandyard/db/database'
import type { ImageRef } from '@sandyard/runtime/types'
import { appendEvent } from '../events/event-log.ts'
import { teamTransaction } from '../teams/team-transaction.ts'
import { findAliasHolder } from './template-queries.ts'
import { DEFAULT_TAG } from './template-reference.ts'
import { countBuild, insertTemplate } from './template-writes.ts'

/** A default template of the server, with an image that was not made by a build. */
export interface PrebuiltTemplate {
  readonly teamId: string
  readonly createdBy: string | undefined
  /** A promoted name: every team may use it without a namespace. */
  readonly alias: string
  readonly image: ImageRef
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  readonly defaultUser: string
  readonly defaultWorkdir: string
  readonly envdVersion: string
}

/**
 * Registers a public default template under a promoted name, with its image as the ready build of the default tag. With the same image and
 * sizes it changes nothing; with others it adds a build, and new sandboxes start from that.
 */
export async function upsertTemplate(database: Database, wanted: PrebuiltTemplate): Promise<{ templateId: string; buildId: string }> {
  // Serialises servers that start together: the name has no row to lock yet.
  return teamTransaction(database, { teamId: wanted.teamId, isUrgent: true }, async ({ tx }) => {
    const templateId = (await findAliasHolder(tx, wanted.alias, null)) ?? (await insertNamed(tx, wanted))
    await markDefault(tx, templateId)
    const buildId = (await findCurrentBuild(tx, templateId, wanted)) ?? (await insertBuild(tx, templateId, wanted))
    return { templateId, buildId }
  })
}

async function insertNamed(tx: Tx, { teamId, createdBy: userId, alias }: PrebuiltTemplate): Promise<string> {
  const templateId = await insertTemplate(tx, { teamId, source: 'template', userId, isPublic: true })
  await tx.insertInto('template_alias').values({ alias, namespace: null, template_id: templateId }).execute()
  return templateId
}

async function markDefault(tx: Tx, templateId: string): Promise<void> {
  await tx.updateTable('template').set({ is_default: true }).where('template_id', '=', templateId).where('is_default', '=', false).execute()
}

/** The newest build of the default tag, if it equals the wanted one. */
async function findCurrentBuild(tx: Tx, templateId: string, wanted: PrebuiltTemplate): Promise<string | undefined> {
  const row = await tx
    .selectFrom('tag_assignment')
    .innerJoin('build', 'build.build_id', 'tag_assignment.build_id')
    .selectAll('build')
    .where('tag_assignment.template_id', '=', templateId)
    .where('tag_assignment.tag', '=', DEFAULT_TAG)
    .orderBy('tag_assignment.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const isCurrent = row !== undefined && Object.entries(columnsOf(wanted)).every(([name, value]) => row[name as keyof typeof row] === value)
  return isCurrent ? row.build_id : undefined
}

async function insertBuild(tx: Tx, templateId: string, wanted: PrebuiltTemplate): Promise<string> {
  const { build_id: buildId } = await tx
    .insertInto('build')
    .values({ template_id: templateId, finished_at: new Date(), ...columnsOf(wanted) })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  await tx.insertInto('tag_assignment').values({ template_id: templateId, build_id: buildId, tag: DEFAULT_TAG }).execute()
  await countBuild(tx, templateId)
  await appendEvent(tx, { teamId: wanted.teamId, kind: 'template.built', subject: templateId, data: { buildId } })
  return buildId
}

function columnsOf(wanted: PrebuiltTemplate) {
  return {
    status: 'ready' as const,
    image: wanted.image,
    cpu_count: wanted.cpuCount,
    memory_mib: wanted.memoryMib,
    disk_mib: wanted.diskMib,
    default_user: wanted.defaultUser,
    default_workdir: wanted.defaultWorkdir,
    envd_version: wanted.envdVersion,
  }
}
