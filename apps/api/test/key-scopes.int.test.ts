import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { OPERATIONS, type OperationId } from '@sandyard/api-contract/operations'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
const keys = new Map<KeyScope, string>()
const REFUSED: Readonly<Record<KeyScope, string>> = {
  connect: 'This API key may only connect to sandboxes.',
  read: 'This API key may only read.',
  build: 'This API key may only build templates.',
}
const SCOPES = Object.keys(REFUSED) as KeyScope[]

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  const headers = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId }
  for (const scope of SCOPES) {
    const { body } = await api.call('POST', '/api-keys', { apiKey: null, headers, body: { name: scope, scope } })
    expect(body.scope).toBe(scope)
    keys.set(scope, body.key)
  }
})
afterAll(() => world[Symbol.asyncDispose]())

const keyOf = (scope: KeyScope): string => keys.get(scope) ?? ''

/** What each scope lets in, by the ids of operations. Those that accept no API key are refused before their scope counts. */
const ALLOWED: Readonly<Partial<Record<OperationId, readonly KeyScope[]>>> = {
  listSandboxes: ['connect', 'read'],
  listSandboxesV2: ['connect', 'read'],
  getSandbox: ['connect', 'read'],
  connectSandbox: ['connect'],
  connectSandboxV2: ['connect'],
  listSandboxMetrics: ['read'],
  getSandboxLogs: ['read'],
  getSandboxLogsV2: ['read'],
  getSandboxMetrics: ['read'],
  listSandboxEvents: ['read'],
  listTeamLifecycleEvents: ['read'],
  listLifecycleEvents: ['read'],
  listSnapshots: ['read'],
  getTeamMetrics: ['read'],
  getTeamMetricsMax: ['read'],
  getTeamLimits: ['read'],
  listWebhooks: ['read'],
  listDashboardBuilds: ['read'],
  listDashboardBuildStatuses: ['read'],
  getDashboardBuild: ['read'],
  getDashboardSandboxRecord: ['read'],
  listDashboardTemplates: ['read'],
  listDashboardDefaultTemplates: ['read'],
  getDashboardTemplate: ['read'],
  listDashboardTagGroups: ['read'],
  countDashboardTags: ['read'],
  checkDashboardTag: ['read'],
  listDashboardTagAssignments: ['read'],
  getWebhook: ['read'],
  listWebhookDeliveries: ['read'],
  getWebhookStats: ['read'],
  listDeadWebhookDeliveries: ['read'],
  listVolumes: ['read'],
  getVolume: ['read'],
  listSecrets: ['read'],
  getSecret: ['read'],
  listReadyMadeTemplates: ['read', 'build'],
  installReadyMadeTemplate: ['build'],
  listTemplates: ['read', 'build'],
  listTemplatesV2: ['read', 'build'],
  listDefaultTemplates: ['read', 'build'],
  getTemplateAlias: ['read', 'build'],
  getTemplate: ['read', 'build'],
  listTemplateTags: ['read', 'build'],
  countTemplateTags: ['read', 'build'],
  checkTemplateTag: ['read', 'build'],
  listTemplateTagGroups: ['read', 'build'],
  listTemplateTagAssignments: ['read', 'build'],
  getBuildStatus: ['read', 'build'],
  getBuildLogs: ['read', 'build'],
  // Its answer is a link for an upload.
  getTemplateFiles: ['build'],
  createTemplateV2: ['build'],
  createTemplateV3: ['build'],
  assignTemplateTags: ['build'],
  deleteTemplateTags: ['build'],
  deleteTemplate: ['build'],
  updateTemplate: ['build'],
  updateTemplateV2: ['build'],
  startBuildV2: ['build'],
}

const TEAM_OPERATIONS = OPERATIONS.filter(({ auth }) => auth === 'T' || auth === 'TU')

describe('a limited key', () => {
  it.each(TEAM_OPERATIONS)('may call $id only in its scope', async ({ id, method, path }) => {
    const url = path.replaceAll(/\{[^}]+\}/g, 'i0')
    for (const scope of SCOPES) {
      // A body that no operation accepts: the scope counts before it is read.
      const headers = { 'content-type': 'application/json' }
      const answer = await api.call(method, url, { apiKey: keyOf(scope), headers, body: '{"' })
      const isAllowed = ALLOWED[id]?.includes(scope) ?? false
      if (isAllowed) expect([scope, answer.body?.message]).not.toEqual([scope, REFUSED[scope]])
      else expect([scope, answer.body]).toEqual([scope, { code: 403, message: REFUSED[scope] }])
    }
    const unlimited = await api.call(method, url, { headers: { 'content-type': 'application/json' }, body: '{"' })
    expect(unlimited.text).not.toContain('This API key may only')
  })

  it('that may only build changes templates, and no templates of snapshots, which an unlimited key does', async () => {
    const { body: sandbox } = await api.call('POST', '/v2/sandboxes', { body: { templateID: world.templateId } })
    const taken = await api.call('POST', `/sandboxes/${sandbox.sandboxID}/snapshots`, { body: { name: 'shot' } })
    expect(taken.status, taken.text).toBe(201)
    const { body: built } = await api.call('POST', '/v3/templates', { body: { name: 'shot-started' } })
    const { templateId } = await world.database.db
      .selectFrom('template_alias')
      .select('template_id as templateId')
      .where('alias', '=', 'shot')
      .executeTakeFirstOrThrow()
    // Its start would replace what the tag names.
    const { body: registered } = await api.call('POST', '/v3/templates', { body: { name: 'shot', tags: ['next'] } })
    expect(registered.templateID).toBe(templateId)
    const start = { fromImage: 'base:1' }
    const changes = [
      ['POST', '/v3/templates', { name: 'shot:other' }],
      ['POST', '/v2/templates', { alias: 'shot' }],
      ['POST', `/v2/templates/${templateId}/builds/${registered.buildID}`, start],
      ['PATCH', `/templates/${templateId}`, { public: true }],
      ['PATCH', '/v2/templates/shot', { public: false }],
      ['POST', '/templates/tags', { target: 'shot', tags: ['two'] }],
      ['DELETE', '/templates/tags', { name: 'shot', tags: ['two'] }],
      ['DELETE', `/templates/${templateId}`, undefined],
    ] as const
    const count = async () =>
      (await world.database.db.selectFrom('build').select('build_id').where('template_id', '=', templateId).execute()).length
    const builds = await count()
    for (const [method, url, body] of changes) {
      const options = body === undefined ? {} : { body }
      const refused = await api.call(method, url, { apiKey: keyOf('build'), ...options })
      const message = 'This API key may only build templates, and not change those of snapshots.'
      expect([method, url, refused.body]).toEqual([method, url, { code: 403, message }])
    }
    expect(await count()).toBe(builds)
    const path = `/v2/templates/${built.templateID}/builds/${built.buildID}`
    expect((await api.call('POST', path, { apiKey: keyOf('build'), body: { fromTemplate: 'shot' } })).status).toBe(202)
    for (const [method, url, body] of changes) {
      const allowed = await api.call(method, url, body === undefined ? {} : { body })
      expect(allowed.status, `${method} ${url} ${allowed.text}`).toBeLessThan(300)
    }
  })

  it('that may only read does not get the token of a sandbox, which one that may connect does', async () => {
    const { sandboxID } = (await api.call('POST', '/v2/sandboxes', { body: { templateID: world.templateId } })).body
    const read = await api.call('GET', `/sandboxes/${sandboxID}`, { apiKey: keyOf('read') })
    const connect = await api.call('GET', `/sandboxes/${sandboxID}`, { apiKey: keyOf('connect') })
    const { envdAccessToken } = connect.body
    expect(envdAccessToken).toEqual(expect.any(String))
    expect(read.body).toEqual({ ...connect.body, envdAccessToken: null })
    expect(read.text).not.toContain(envdAccessToken)
    expect((await api.call('POST', `/sandboxes/${sandboxID}/connect`, { apiKey: keyOf('connect'), body: { timeout: 60 } })).status).toBe(
      200,
    )
  })
})
