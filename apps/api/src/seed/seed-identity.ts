import type { Database, Db, Tx } from '@sandyard/db/database'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'
import { teamSlug } from '../teams/team-slug.ts'
import { teamTransaction } from '../teams/team-transaction.ts'

export interface IdentitySeed {
  readonly teamName: string
  readonly email: string
}

/** The raw values exist only here: the caller must store them. */
export interface SeededCredentials {
  readonly apiKey: string
  readonly accessToken: string
}

export interface SeededIdentity {
  readonly teamId: string
  readonly userId: string
  /** Set by the call that created them, else undefined. */
  readonly credentials: SeededCredentials | undefined
}

const NAME = 'seeded'

/**
 * Ensures a team, a user who is its member, an API key of the team and an access token of the user. One transaction creates the credentials with the membership, so
 * a caller always gets the raw values that it created.
 */
export async function seedIdentity(database: Database, seed: IdentitySeed): Promise<SeededIdentity> {
  const teamId = await ensureTeam(database.db, seed)
  return teamTransaction(database, { teamId, isUrgent: true }, async ({ tx }) => {
    const userId = await ensureUser(tx, seed.email)
    await tx
      .insertInto('team_member')
      .values({ team_id: teamId, user_id: userId, is_default: true })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const isSeeded = await hasSeededKey(tx, teamId)
    return { teamId, userId, credentials: isSeeded ? undefined : await insertCredentials(tx, teamId, userId) }
  })
}

/**
 * Creates another API key and access token, for a server that does not have the raw values of the former ones. The former ones stay valid:
 * other servers and clients may use them.
 */
export async function issueFurtherCredentials(
  database: Database,
  { teamId, userId }: { readonly teamId: string; readonly userId: string },
): Promise<SeededCredentials> {
  return database.transaction((tx) => insertCredentials(tx, teamId, userId))
}

async function ensureTeam(db: Db, { teamName, email }: IdentitySeed): Promise<string> {
  const slug = teamSlug(teamName)
  await db
    .insertInto('team')
    .values({ name: teamName, slug, email })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .execute()
  const row = await db.selectFrom('team').select('id').where('slug', '=', slug).executeTakeFirstOrThrow()
  return row.id
}

async function ensureUser(tx: Tx, email: string): Promise<string> {
  await tx
    .insertInto('app_user')
    .values({ email })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .execute()
  const row = await tx.selectFrom('app_user').select('id').where('email', '=', email).executeTakeFirstOrThrow()
  return row.id
}

async function hasSeededKey(tx: Tx, teamId: string): Promise<boolean> {
  const row = await tx.selectFrom('api_key').select('id').where('team_id', '=', teamId).where('name', '=', NAME).executeTakeFirst()
  return row !== undefined
}

async function insertCredentials(tx: Tx, teamId: string, userId: string): Promise<SeededCredentials> {
  const apiKey = issueCredential(CREDENTIAL_PREFIXES.apiKey)
  const accessToken = issueCredential(CREDENTIAL_PREFIXES.accessToken)
  await tx
    .insertInto('api_key')
    .values({ team_id: teamId, created_by: userId, name: NAME, ...apiKey.stored })
    .execute()
  await tx
    .insertInto('access_token')
    .values({ user_id: userId, name: NAME, ...accessToken.stored })
    .execute()
  return { apiKey: apiKey.raw, accessToken: accessToken.raw }
}
