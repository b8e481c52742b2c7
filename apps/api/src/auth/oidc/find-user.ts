import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Db, Tx } from '@sandyard/db/database'
import { isStorable } from '../../text/is-storable.ts'
import type { User } from '../../teams/team.ts'
import { BASE_NAMESPACE } from '../../templates/resolve-template.ts'
import { teamSlug } from '../../teams/team-slug.ts'

/** What a verified token says about its user. */
export interface ProviderUser {
  readonly issuer: string
  readonly subject: string
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined
}

const MOST_SLUGS = 5

/**
 * The user of this identity. A new identity belongs to the user with the same verified address, unless that user has another one at the
 * provider: providers give the address of a former user to another person.
 *
 * @param createsUsers - an unknown address gets a user and a team
 */
export async function findProviderUser(database: Database, who: ProviderUser, createsUsers: boolean): Promise<User | undefined> {
  const known = await findByIdentity(database.db, who)
  const { issuer, subject, email } = who
  if (known !== undefined || email === undefined || !isStorable({ subject, email })) return known
  return database.transaction(async (tx) => {
    const user = (await findByEmail(tx, email)) ?? (createsUsers ? await createUser(tx, email) : undefined)
    if (user === undefined) return undefined
    await tx
      .insertInto('user_identity')
      .values({ issuer, subject, user_id: user.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return findByIdentity(tx, who)
  })
}

function findByIdentity(db: Db, { issuer, subject }: ProviderUser): Promise<User | undefined> {
  if (!isStorable(subject)) return Promise.resolve(undefined)
  return db
    .selectFrom('user_identity')
    .innerJoin('app_user', 'app_user.id', 'user_identity.user_id')
    .select(['app_user.id', 'app_user.email'])
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

/** Providers write addresses in another case than administrators. Undefined also when several users have it. */
async function findByEmail(tx: Tx, email: string): Promise<User | undefined> {
  const isSame = sql<boolean>`lower(email) = lower(${email})`
  const [user, ...others] = await tx.selectFrom('app_user').select(['id', 'email']).where(isSame).limit(2).forKeyShare().execute()
  return others.length === 0 ? user : undefined
}

/** A user with a team of its own, of the name of the address; the user of a request that was faster, if there is one. */
async function createUser(tx: Tx, email: string): Promise<User | undefined> {
  const user = await tx
    .insertInto('app_user')
    .values({ email })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(['id', 'email'])
    .executeTakeFirst()
  if (user === undefined) return findByEmail(tx, email)
  const teamId = await createTeam(tx, email)
  await tx.insertInto('team_member').values({ team_id: teamId, user_id: user.id, is_default: true }).execute()
  return user
}

/**
 * Its slug has a suffix when another team has the one of the name (control-plane.md 2.5), and when others would take its templates for those of the
 * server: who signs in chooses the name.
 */
async function createTeam(tx: Tx, email: string): Promise<string> {
  const base = teamSlug(email)
  for (let tried = 0; tried < MOST_SLUGS; tried++) {
    const slug = tried === 0 && base !== BASE_NAMESPACE ? base : `${base}-${randomBytes(2).toString('hex')}`
    const team = await tx
      .insertInto('team')
      .values({ name: email, slug, email })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (team !== undefined) return team.id
  }
  throw new Error(`no free slug was found for a team like ${base}`)
}
