import type { ActorView } from '@sandyard/dashboard-contract/sandboxes'
import type { Db } from '@sandyard/db/database'
import { isUuid } from '@sandyard/kit/ids/uuid'

/** As events store it (`events/actor.ts`); other shapes are of other releases. */
export type StoredActor = Readonly<Record<string, unknown>> | null | undefined

const OTHERS: Readonly<Record<string, string>> = {
  admin: 'administrator',
  timeout: 'end time reached',
  traffic: 'a request to the sandbox',
  server: 'this server',
}

/** Views of actors, with the names of keys and users in two queries, however many there are. */
export async function viewActors(db: Db, actors: readonly StoredActor[]): Promise<(actor: StoredActor) => ActorView> {
  const idsOf = (name: string): string[] => [
    ...new Set(actors.flatMap((actor) => (typeof actor?.[name] === 'string' && isUuid(actor[name]) ? [actor[name]] : []))),
  ]
  const [keys, users] = await Promise.all([readKeys(db, idsOf('keyId')), readUsers(db, idsOf('userId'))])
  return (actor) => toActorView(actor, keys, users)
}

type Names = ReadonlyMap<string, string>

function toActorView(actor: StoredActor, keys: Names, users: Names): ActorView {
  const way = actor?.['via'] === 'dashboard' ? { viaDashboard: true } : {}
  const kind = actor?.['kind']
  if (kind === 'key') {
    const id = String(actor?.['keyId'])
    return { kind, id, label: keys.get(id) ?? 'a deleted key', ...way }
  }
  if (kind === 'user') {
    const id = String(actor?.['userId'])
    return { kind, id, label: users.get(id) ?? 'a deleted user', ...way }
  }
  if (kind === 'admin' || kind === 'timeout' || kind === 'traffic' || kind === 'server')
    return { kind, label: OTHERS[kind] ?? kind, ...way }
  return { kind: 'unknown', label: 'not known' }
}

async function readKeys(db: Db, ids: readonly string[]): Promise<Names> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('api_key').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

async function readUsers(db: Db, ids: readonly string[]): Promise<Names> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('app_user').select(['id', 'email']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, email }) => [id, email]))
}
