import { sql } from 'kysely'
import { CREDENTIAL_PREFIXES, hashCredential } from '@sandyard/api/auth/credential'
import { createApiKey, type NewApiKey } from '@sandyard/api/credentials/create-api-key'
import { teamTransaction, type TeamTurn } from '@sandyard/api/teams/team-transaction'
import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { Database, Db } from '@sandyard/db/database'

/** An API key as lists show it. */
export interface KeyView {
  readonly id: string
  readonly name: string
  /** `e2b_12******cdef`: the ends of the value. */
  readonly mask: string
  /** Slug of the team. */
  readonly team: string
  readonly createdAt: string
  /** Undefined for a key that was never used. A server writes it once a minute. */
  readonly lastUsedAt: string | undefined
  /** Undefined for a key that does not end by itself. */
  readonly expiresAt: string | undefined
  /** All that the key may do; undefined: everything. */
  readonly scope: KeyScope | undefined
}

export interface TeamChoice {
  readonly id: string
  readonly slug: string
}

const PAGE = 1000

export interface KeySearch {
  /** Absent: all teams. */
  readonly teamId?: string | undefined
  /** Those whose ids begin so, in lower case. */
  readonly idBegin?: string
}

/** All of them, oldest first, in pages: each team has a cap of its own. */
export async function listKeys(db: Db, search: KeySearch = {}): Promise<KeyView[]> {
  const found: KeyView[] = []
  for (let after: Place | undefined; ;) {
    const rows = await readPage(db, search, after)
    found.push(...rows.map(toKeyView))
    after = rows.at(-1)
    if (rows.length < PAGE) return found
  }
}

interface Place {
  readonly id: string
  /** To the microsecond. */
  readonly exact_time: string
}

type KeyRow = Awaited<ReturnType<typeof readPage>>[number]

async function readPage(db: Db, { teamId, idBegin }: KeySearch, after: Place | undefined) {
  return db
    .selectFrom('api_key')
    .innerJoin('team', 'team.id', 'api_key.team_id')
    .select(['api_key.id', 'api_key.name', 'api_key.prefix', 'value_length', 'masked_value_prefix', 'masked_value_suffix'])
    .select(['team.slug', 'api_key.created_at', 'last_used_at', 'expires_at', 'scope'])
    .select(sql<string>`api_key.created_at::text`.as('exact_time'))
    .$if(teamId !== undefined, (query) => query.where('team_id', '=', teamId ?? ''))
    .$if(idBegin !== undefined, (query) => query.where(sql<boolean>`starts_with(api_key.id::text, ${idBegin ?? ''})`))
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(api_key.created_at, api_key.id) > (${after?.exact_time ?? null}::timestamptz, ${after?.id ?? null}::uuid)`),
    )
    .orderBy('api_key.created_at')
    .orderBy('api_key.id')
    .limit(PAGE)
    .execute()
}

function toKeyView(row: KeyRow): KeyView {
  return {
    id: row.id,
    name: row.name,
    mask: `${row.prefix}${row.masked_value_prefix}${'*'.repeat(6)}${row.masked_value_suffix}`,
    team: row.slug,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString(),
    expiresAt: row.expires_at?.toISOString(),
    scope: row.scope ?? undefined,
  }
}

export interface CreatedKey {
  readonly id: string
  /** The only copy of the raw key. */
  readonly key: string
}

/** @throws the error of `onGone` when the team was deleted meanwhile */
export async function createKey(database: Database, turn: TeamTurn, wanted: NewApiKey): Promise<CreatedKey> {
  const { row, key } = await teamTransaction(database, turn, (team) => createApiKey(team, wanted))
  return { id: row.id, key }
}

/** False when there is no such key. */
export async function renameKey(db: Db, id: string, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db.updateTable('api_key').set({ name }).where('id', '=', id).executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Deletes all of them or none. Servers forget them at once: a trigger of the table notifies them. False when one does not exist. */
export async function deleteKeys(database: Database, ids: readonly string[]): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      const { numDeletedRows } = await tx.deleteFrom('api_key').where('id', 'in', ids).executeTakeFirst()
      if (Number(numDeletedRows) !== ids.length) throw new MissingKey()
    })
    return true
  } catch (err) {
    if (err instanceof MissingKey) return false
    throw err
  }
}

/** Rolls the transaction back. */
class MissingKey extends Error {}

export interface FoundKey {
  readonly id: string
  readonly name: string
  readonly team: TeamChoice
}

/** The key with this raw value. */
export async function findKey(db: Db, rawKey: string): Promise<FoundKey | undefined> {
  const hash = hashCredential(rawKey, CREDENTIAL_PREFIXES.apiKey)
  if (hash === undefined) return undefined
  const row = await db
    .selectFrom('api_key')
    .innerJoin('team', 'team.id', 'api_key.team_id')
    .select(['api_key.id', 'api_key.name', 'team.id as team_id', 'team.slug'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && { id: row.id, name: row.name, team: { id: row.team_id, slug: row.slug } }
}

/** Up to `limit`, by their slugs. */
export async function listTeams(db: Db, limit: number): Promise<TeamChoice[]> {
  return db.selectFrom('team').select(['id', 'slug']).orderBy('slug').limit(limit).execute()
}

export async function findTeam(db: Db, slugOrId: string): Promise<TeamChoice | undefined> {
  const named = sql<boolean>`(slug = ${slugOrId} or id::text = ${slugOrId})`
  // A slug may have the form of an id.
  return db
    .selectFrom('team')
    .select(['id', 'slug'])
    .where(named)
    .orderBy(sql`id::text = ${slugOrId}`)
    .limit(1)
    .executeTakeFirst()
}
