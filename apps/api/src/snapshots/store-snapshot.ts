import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import { claimAlias } from '../builds/registration/claim-alias.ts'
import { appendEvent } from '../events/event-log.ts'
import type { SandboxRow } from '../sandboxes/sandbox-queries.ts'
import type { LockedTeam } from '../teams/team-transaction.ts'
import type { Team } from '../teams/team.ts'
import { findTemplate } from '../templates/resolve-template.ts'
import { countBuild, insertTemplate } from '../templates/template-writes.ts'

export interface SnapshotToStore {
  readonly team: Team
  /** The creator of a new template. */
  readonly userId: string | undefined
  /** The sandbox that the snapshot was taken of. */
  readonly row: SandboxRow
  readonly snapshot: RuntimeSnapshot
  /** The name in the namespace of the team. */
  readonly alias: string | undefined
  readonly tag: string
}

/**
 * Inserts a snapshot as a ready build of the template with its name, or of a new template, and assigns the tag. The build has the sizes,
 * users, variables and start command of the sandbox's build.
 *
 * @returns the id of the template
 * @throws AppError `conflict` or `permission_denied` for a name that is taken
 */
export async function storeSnapshot({ tx }: LockedTeam, request: SnapshotToStore): Promise<string> {
  const { team, userId, row, snapshot, alias, tag } = request
  const named =
    alias === undefined ? undefined : await findTemplate(tx, team, { key: alias, namespace: undefined, name: alias, tag: undefined })
  const templateId =
    named?.teamId === team.id ? named.templateId : await insertTemplate(tx, { teamId: team.id, source: 'snapshot_template', userId })
  if (alias !== undefined && named?.teamId !== team.id) await claimAlias(tx, { alias, namespace: team.slug, templateId })
  const buildId = await insertBuild(tx, { templateId, row, snapshot })
  // Deletes of templates lock the team, so the template is there.
  await countBuild(tx, templateId)
  await tx.insertInto('tag_assignment').values({ template_id: templateId, build_id: buildId, tag }).execute()
  await appendEvent(tx, { teamId: team.id, kind: 'template.built', subject: templateId, data: { buildId, snapshotOf: row.sandbox_id } })
  return templateId
}

async function insertBuild(
  tx: Tx,
  { templateId, row, snapshot }: Pick<SnapshotToStore, 'row' | 'snapshot'> & { readonly templateId: string },
): Promise<string> {
  const { rows } = await sql<{ build_id: string }>`
    insert into build (
      template_id, status, cpu_count, memory_mib, disk_mib, image, default_user, default_workdir, envd_version, finished_at,
      env, start_cmd, ready_cmd, start_context, source_sandbox_id, snapshot, snapshot_bytes
    )
    select ${templateId}, 'ready', cpu_count, memory_mib, disk_mib, ${snapshot.image}, default_user, default_workdir, envd_version,
      clock_timestamp(), env, start_cmd, ready_cmd, start_context, ${row.sandbox_id}, ${JSON.stringify(snapshot)}::jsonb,
      ${snapshot.sizeBytes}
    from build where build_id = ${row.build_id}
    returning build_id
  `.execute(tx)
  const [inserted] = rows
  if (inserted === undefined) throw new Error(`the build ${row.build_id} is gone`)
  return inserted.build_id
}
