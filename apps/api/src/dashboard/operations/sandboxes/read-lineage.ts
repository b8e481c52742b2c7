import { sql } from 'kysely'
import type { LineageNode } from '@sandyard/dashboard-contract/timeline'
import type { Db } from '@sandyard/db/database'
import { templateName } from '../row-texts.ts'
import { forkOf } from './sandbox-sql.ts'

const MAX_NODES = 200
/** Of ancestors, and of descendants. */
const MAX_LEVELS = 16

/** A sandbox with what it was started from. `made_from` is the sandbox of that snapshot. A fork has the build of the sandbox in `fork_of`. */
interface StoredSandbox {
  readonly sandbox_id: string
  readonly name: string
  readonly at: Date
  readonly state: string
  readonly build_id: string
  readonly source_id: string
  readonly source_name: string
  readonly source: 'template' | 'snapshot' | 'snapshot_template'
  readonly source_at: Date
  readonly source_bytes: number | null
  readonly is_deleted: boolean
  readonly made_from: string | null
  readonly fork_of: string | null
}

/** A named snapshot of a sandbox. */
interface StoredSnapshot {
  readonly id: string
  readonly name: string
  readonly at: Date
  readonly bytes: number | null
  readonly made_from: string
}

/**
 * What a sandbox was made from, up to the first template, and the snapshots and forks of it and what was started from those. Parents come before
 * their children. A fork has the sandbox as its parent: its snapshot is not kept. The caller has checked whose sandbox it is.
 */
export async function readLineage(db: Db, teamId: string, sandboxId: string): Promise<{ nodes: LineageNode[]; isCut: boolean }> {
  const ancestors = await readAncestors(db, teamId, sandboxId)
  const nodes = new Map<string, LineageNode>()
  for (const row of ancestors.rows) addStarted(nodes, row)
  let { isCut } = ancestors
  let ids = [sandboxId]
  for (let level = 0; ids.length > 0; level++) {
    if (level === MAX_LEVELS || nodes.size > MAX_NODES) return { nodes: [...nodes.values()].slice(0, MAX_NODES), isCut: true }
    const snapshots = await readSnapshots(db, teamId, ids)
    for (const row of snapshots) add(nodes, toSnapshot(row))
    const started = await readStarted(db, teamId, ids)
    isCut ||= snapshots.length > MAX_NODES || started.length > MAX_NODES
    ids = started.filter(({ sandbox_id }) => !nodes.has(sandbox_id)).map(({ sandbox_id }) => sandbox_id)
    for (const row of started) addStarted(nodes, row)
  }
  return { nodes: [...nodes.values()].slice(0, MAX_NODES), isCut: isCut || nodes.size > MAX_NODES }
}

/** The oldest first, the sandbox itself last. Ends at a template, and at a sandbox that is no longer kept. */
async function readAncestors(db: Db, teamId: string, sandboxId: string): Promise<{ rows: StoredSandbox[]; isCut: boolean }> {
  const rows: StoredSandbox[] = []
  let next: string | null = sandboxId
  while (next !== null && rows.length < MAX_LEVELS) {
    const [row]: StoredSandbox[] = await readSandboxes(db, teamId, sql`sandbox_id = ${next}`)
    if (row === undefined) break
    rows.unshift(row)
    next = row.fork_of ?? row.made_from
  }
  return { rows, isCut: rows.length === MAX_LEVELS && next !== null }
}

/** Sandboxes that were started from snapshots of these ones, or forked from them. */
function readStarted(db: Db, teamId: string, ids: readonly string[]): Promise<StoredSandbox[]> {
  return readSandboxes(
    db,
    teamId,
    sql`(build_id = any(array(select build_id from build where source_sandbox_id = any(${[...ids]}::text[]))) or sandbox_id = any(array(
      select jsonb_array_elements_text(data -> 'forks') from event where subject = any(${[...ids]}::text[]) and kind = 'sandbox.forked')))`,
  )
}

async function readSandboxes(db: Db, teamId: string, condition: ReturnType<typeof sql>): Promise<StoredSandbox[]> {
  const { rows } = await sql<StoredSandbox>`
    select found.*, template.template_id as source_id, ${templateName(sql`template.template_id`)} as source_name, template.source,
      build.created_at as source_at, build.snapshot_bytes as source_bytes, template.deleted_at is not null as is_deleted,
      case when template.team_id = ${teamId} then build.source_sandbox_id end as made_from, ${forkOf(sql`found.sandbox_id`)} as fork_of
    from (
      select sandbox_id, coalesce(alias, sandbox_id) as name, created_at as at, build_id,
        case state when 'killing' then 'ending' when 'starting' then 'starting' when 'running' then 'running' when 'snapshotting' then 'running'
          else 'paused' end as state
      from sandbox where team_id = ${teamId} and ${condition}
      union all
      select sandbox_id, coalesce(alias, sandbox_id), created_at, build_id, 'ended'
      from sandbox_history where team_id = ${teamId} and ${condition}
    ) as found join build using (build_id) join template using (template_id)
    order by found.at, found.sandbox_id limit ${MAX_NODES + 1}
  `.execute(db)
  return rows
}

/** Their named snapshots that are not deleted. */
async function readSnapshots(db: Db, teamId: string, ids: readonly string[]): Promise<StoredSnapshot[]> {
  const { rows } = await sql<StoredSnapshot>`
    select template_id as id, ${templateName(sql`template.template_id`)} as name, build.created_at as at, snapshot_bytes as bytes,
      source_sandbox_id as made_from
    from build join template using (template_id)
    where source_sandbox_id = any(${[...ids]}::text[]) and template.team_id = ${teamId} and template.source = 'snapshot_template'
      and template.deleted_at is null
    order by build.created_at, build_id limit ${MAX_NODES + 1}
  `.execute(db)
  return rows
}

/** A sandbox, after what it was started from. */
function addStarted(nodes: Map<string, LineageNode>, row: StoredSandbox): void {
  const isFork = row.fork_of !== null || row.source === 'snapshot'
  const sourceId = isFork ? (row.fork_of ?? row.made_from) : row.source_id
  if (!isFork) add(nodes, toSource(row, nodes))
  const { sandbox_id: id, name, at, state } = row
  const parentId = sourceId !== null && nodes.has(sourceId) ? sourceId : null
  add(nodes, { kind: 'sandbox', id, name, at: at.toISOString(), state, parentId, bytes: null })
}

function toSource(row: StoredSandbox, nodes: ReadonlyMap<string, LineageNode>): LineageNode {
  const parentId = row.made_from !== null && nodes.has(row.made_from) ? row.made_from : null
  const kind = row.source === 'snapshot_template' ? 'snapshot' : 'template'
  const state = row.is_deleted ? 'deleted' : 'ready'
  return { kind, id: row.source_id, name: row.source_name, at: row.source_at.toISOString(), state, parentId, bytes: row.source_bytes }
}

function toSnapshot({ id, name, at, bytes, made_from }: StoredSnapshot): LineageNode {
  return { kind: 'snapshot', id, name, at: at.toISOString(), state: 'ready', parentId: made_from, bytes }
}

/** A snapshot with several builds is one node, that of the first. */
function add(nodes: Map<string, LineageNode>, node: LineageNode): void {
  if (!nodes.has(node.id)) nodes.set(node.id, node)
}
