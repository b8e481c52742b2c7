import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'
import type { Operation } from '@sandyard/api-contract/operation'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

/** What a team owns: what operations name in their paths, queries and bodies, by ids and by names. */
type Owned = Readonly<Record<string, string>>

interface Attempt {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

let world: World
let api: Server
let owner: Caller
let stranger: Caller
let byId: Owned
let byName: Owned
/** Texts that only the owner knows. */
let secrets: readonly string[]

/** Operations with objects outside of their paths. Those that are not here are called with the path alone, and an empty body. */
const ATTEMPTS: Partial<Record<OperationId, (owned: Owned) => Attempt>> = {
  createSandbox: ({ templateID = '' }) => ({ body: { templateID } }),
  createSandboxV2: ({ volumeID = '' }) => ({ body: { templateID: 'base', volumeMounts: [{ name: volumeID, path: '/data' }] } }),
  listSandboxMetrics: ({ sandboxID = '' }) => ({ query: { sandbox_ids: sandboxID } }),
  listSnapshots: ({ sandboxID = '' }) => ({ query: { sandboxID } }),
  setSandboxTimeout: () => ({ body: { timeout: 1 } }),
  connectSandbox: () => ({ body: { timeout: 60 } }),
  connectSandboxV2: () => ({ body: { timeout: 60 } }),
  updateSandboxNetwork: () => ({ body: { denyOut: ['198.51.100.1'] } }),
  forkSandbox: () => ({ body: { count: 1 } }),
  assignTemplateTags: ({ target = '' }) => ({ body: { target, tags: ['stolen'] } }),
  deleteTemplateTags: ({ name = '' }) => ({ body: { name, tags: ['kept'] } }),
  checkTemplateTag: () => ({ query: { tag: 'kept' } }),
  createTemplate: ({ teamID = '' }) => ({ body: { dockerfile: 'FROM debian', teamID } }),
  rebuildTemplate: ({ teamID = '' }) => ({ body: { dockerfile: 'FROM debian', teamID } }),
  createTemplateV2: ({ teamID = '', alias = '' }) => ({ body: { alias, teamID } }),
  createTemplateV3: ({ teamID = '', alias = '' }) => ({ body: { name: alias, teamID } }),
  startBuildV2: () => ({ body: { fromImage: 'debian', steps: [] } }),
  updateTemplate: () => ({ body: { public: true } }),
  updateTemplateV2: () => ({ body: { public: true } }),
  getTeamMetricsMax: () => ({ query: { metric: 'concurrent_sandboxes' } }),
  updateApiKey: () => ({ body: { name: 'stolen' } }),
  updateSecret: () => ({ body: { value: 'stolen' } }),
  updateWebhook: () => ({ body: { name: 'stolen' } }),
  listTemplates: ({ teamID = '' }) => ({ query: { teamID } }),
  listTemplatesV2: ({ teamID = '' }) => ({ query: { teamID } }),
  checkDashboardTag: () => ({ query: { tag: 'kept' } }),
  listDashboardBuilds: ({ buildID = '' }) => ({ query: { build_id_or_template: buildID } }),
  listDashboardBuildStatuses: ({ buildID = '' }) => ({ query: { build_ids: buildID } }),
}

/** Operations that name no object of a team: they must succeed, or be refused for their own reasons, without a trace of the other team. */
const isPlain = ({ id, path }: Operation): boolean => !path.includes('{') && ATTEMPTS[id as OperationId] === undefined
/** They answer with what the caller may see: nothing. Others must be refused. */
const LISTS: ReadonlySet<string> = new Set<OperationId>([
  'getSandboxLogs',
  'getSandboxLogsV2',
  'getSandboxMetrics',
  'listSandboxMetrics',
  'listSnapshots',
  'listDashboardBuilds',
  'listDashboardBuildStatuses',
])
const EMPTY = [
  '[]',
  '{"sandboxes":{}}',
  '{"logs":[]}',
  '{"data":[],"nextCursor":null}',
  '{"buildStatuses":[]}',
  '{"logs":[],"logEntries":[]}',
]

const GUARDED = (OPERATIONS as readonly Operation[]).filter(({ auth }) => auth !== 'none' && auth !== 'A')

beforeAll(async () => {
  world = await createWorld()
  const env = { SANDYARD_MAX_BUILDS: '1000', SANDYARD_SECRETS_KEY: '5a'.repeat(32) }
  api = await world.startServer({ env, capabilities: { mounts: true } })
  owner = await addCaller(world, api, 'Owners')
  stranger = await addCaller(world, api, 'Strangers')
  const { body: made } = await owner.withKey('POST', '/v2/sandboxes', { templateID: 'base', metadata: { hidden: 'owners-metadata' } })
  const { body: snapshot } = await owner.withKey('POST', `/sandboxes/${made.sandboxID}/snapshots`, { name: 'owners-snapshot' })
  const { body: registered } = await owner.withKey('POST', '/v3/templates', { name: 'owners-template', tags: ['kept'] })
  const { templateID, buildID } = registered
  const { rows } = await sql<{ template_id: string }>`
    select template_id from template where team_id = ${owner.teamId} and source = 'snapshot_template'
  `.execute(world.database.db)
  const common = { teamID: owner.teamId, buildID, hash: 'a'.repeat(64), tag: 'kept', sandboxID: made.sandboxID }
  const objects = await addStored()
  byId = { ...common, ...objects, templateID, alias: templateID, target: `${templateID}:kept`, name: templateID }
  const full = `${owner.slug}/owners-template`
  byName = { ...common, ...objects, ...namesOf(), templateID: full, alias: full, target: `${full}:kept`, name: full }
  secrets = [made.envdAccessToken, 'owners-metadata', snapshot.snapshotID, 'owners-', ...rows.map((row) => row.template_id)]
})
afterAll(() => world[Symbol.asyncDispose]())

/** Objects of the owner that have operations of their own. */
async function addStored(): Promise<Owned> {
  const make = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer['body']> => {
    const answer = await owner.withKey('POST', path, body, headers)
    expect([201, path]).toEqual([answer.status, path])
    return answer.body
  }
  const asUser = { authorization: `Bearer ${owner.accessToken}`, 'x-team-id': owner.teamId }
  const volume = await make('/volumes', { name: 'owners-volume' })
  const secret = await make('/secrets', { name: 'owners-secret', value: 'owners-value' })
  const webhook = await make('/events/webhooks', {
    name: 'owners-webhook',
    url: 'https://example.com/',
    events: ['sandbox.lifecycle.created'],
    signatureSecret: 'owners-signature'.repeat(3),
  })
  const { body: key } = await api.call('POST', '/api-keys', { apiKey: null, headers: asUser, body: { name: 'owners-key' } })
  const { body: token } = await api.call('POST', '/access-tokens', { apiKey: null, headers: asUser, body: { name: 'owners-token' } })
  return {
    volumeID: volume.volumeID,
    secretID: secret.secretID,
    webhookID: webhook.id,
    apiKeyID: key.id,
    accessTokenID: token.id,
    deliveryID: webhook.id,
  }
}

/** Their names, where operations take names in place of ids. */
function namesOf(): Owned {
  return { secretID: 'owners-secret', volumeID: 'owners-volume' }
}

/** All rows of the owner, without what time changes. */
async function stateOfOwner(): Promise<string> {
  const { rows } = await sql<{ state: string }>`
    select jsonb_build_array(
      (select jsonb_agg(to_jsonb(row) order by sandbox_id) from sandbox as row where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) - 'last_spawned_at' order by template_id) from template as row where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) order by build_id) from build as row join template using (template_id) where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) order by template_id, tag, row.created_at) from tag_assignment as row
        join template using (template_id) where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) order by alias) from template_alias as row join template using (template_id) where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) - 'last_used_at' order by id) from api_key as row where team_id = ${owner.teamId}),
      (select jsonb_agg(to_jsonb(row) order by volume_id) from volume as row where team_id = ${owner.teamId})
    )::text as state
  `.execute(world.database.db)
  return rows[0]?.state ?? ''
}

function fill(path: string, owned: Owned): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(owned[name] ?? '00000000-0000-4000-8000-000000000000'))
}

/** As the stranger: with the key, the token of a user, and the token for the owner's team. */
async function attempt(operation: Operation, owned: Owned): Promise<Answer[]> {
  const { query, body } = ATTEMPTS[operation.id as OperationId]?.(owned) ?? {}
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`
  const url = fill(operation.path, owned) + search
  const content = operation.method === 'GET' ? {} : { body: body ?? {} }
  const call = (headers: Record<string, string>, apiKey: string | null): Promise<Answer> =>
    api.call(operation.method, url, { ...content, headers, apiKey })
  const bearer = { authorization: `Bearer ${stranger.accessToken}` }
  return [
    await call({}, stranger.apiKey),
    await call(bearer, null),
    await call({ ...bearer, 'x-team-id': stranger.teamId }, null),
    await call({ ...bearer, 'x-team-id': owner.teamId }, null),
  ]
}

function expectNothingOf(owned: Owned, { text }: Answer): void {
  const asked = new Set(Object.values(owned))
  for (const secret of secrets) if (![...asked].some((given) => given.includes(secret))) expect(text).not.toContain(secret)
}

describe('an operation on objects of another team', () => {
  it.each(GUARDED.filter((operation) => !isPlain(operation)).map((operation) => [operation.id, operation] as const))(
    '%s is refused, by their ids and by their names, and changes and shows nothing of them',
    async (id, operation) => {
      const before = await stateOfOwner()
      for (const owned of [byId, byName]) {
        for (const answer of await attempt(operation, owned)) {
          if (LISTS.has(id) && answer.status === 200) expect(answer.text).toBeOneOf(EMPTY)
          else expect(answer).toSatisfy(isRefusal)
          expectNothingOf(owned, answer)
        }
      }
      expect(await stateOfOwner()).toBe(before)
    },
  )

  it.each(GUARDED.filter(isPlain).map((operation) => [operation.id, operation] as const))(
    '%s shows nothing of them',
    async (_, operation) => {
      const before = await stateOfOwner()
      for (const answer of await attempt(operation, byId)) expectNothingOf({}, answer)
      expect(await stateOfOwner()).toBe(before)
    },
  )
})

/** Refused for the caller or the object, or not served. A request that does not fit the schema would prove nothing. */
function isRefusal({ status, text }: Answer): boolean {
  return ((status >= 400 && status < 500) || status === 501) && !/validation error|has an error/.test(text)
}
