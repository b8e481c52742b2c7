import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'
import { insertBuild, insertTemplate, seedParty, type Party } from './support/templates.ts'

let world: World
let api: Server
let ours: Party
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  ours = await seedParty(world, 'Ours')
  await insertBuild(world, await insertTemplate(world, ours, { alias: 'app' }))
})
afterAll(() => world[Symbol.asyncDispose]())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function expectClear(method: Method, url: string, body?: unknown): Promise<void> {
  const answer = await api.call(method, url, { apiKey: ours.apiKey, ...(body !== undefined && { body }) })
  const what = `${method} ${url.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)}: ${answer.text.slice(0, 200)}`
  expect(answer.status, what).toBeLessThan(500)
  expect(answer.text.length, what).toBeLessThan(3000)
  if (answer.status >= 400) expect(answer.body, what).toEqual({ code: answer.status, message: expect.any(String) })
}

const ODD_TEXTS = [
  '',
  '%00',
  'app%00',
  '%ff',
  '%ED%A0%80',
  '%',
  '%25',
  "'",
  '%2F',
  '..%2F..',
  'a%2Fb%2Fc',
  'app%3A%00',
  ':',
  '-1',
  '1e3',
  '9'.repeat(400),
  'a'.repeat(4000),
  'app%3A' + 'a'.repeat(4000),
  '%F0%9F%92%A9',
  Buffer.from('9999-12-31T23:59:59Z__00000000-0000-0000-0000-000000000000').toString('base64url'),
  Buffer.from('0001-01-01T00:00:00Z__a\0').toString('base64url'),
  Buffer.from('latest_desc|9999-12-31T23:59:59Z|a').toString('base64url'),
]

const PATHS: readonly [Method, string][] = [
  ['GET', '/templates/X'],
  ['PATCH', '/templates/X'],
  ['PATCH', '/v2/templates/X'],
  ['DELETE', '/templates/X'],
  ['GET', '/templates/aliases/X'],
  ['GET', '/templates/X/tags'],
  ['GET', '/templates/X/tags/count'],
  ['GET', '/templates/X/tags/exists?tag=v1'],
  ['GET', '/templates/X/tags/groups'],
  ['GET', '/templates/X/tags/v1/assignments'],
  ['GET', '/templates/app/tags/X/assignments'],
]

it.each(PATHS)('%s %s has a clear answer to every odd path', async (method, path) => {
  for (const text of ODD_TEXTS) await expectClear(method, path.replace('X', text), method === 'PATCH' ? {} : undefined)
})

it.each([
  ['/templates', 'teamID'],
  ['/v2/templates', 'teamID nextToken limit'],
  ['/templates/APP', 'nextToken limit'],
  ['/templates/app/tags/exists', 'tag'],
  ['/templates/app/tags/groups', 'assignmentLimit tagsLimit tagsCursor search sort'],
  ['/templates/app/tags/default/assignments', 'cursor limit'],
])('GET %s has a clear answer to every odd value of %s', async (path, names) => {
  const { templateID } = (await api.call('GET', '/templates/aliases/app', { apiKey: ours.apiKey })).body
  for (const name of names.split(' ')) {
    for (const text of ODD_TEXTS) await expectClear('GET', `${path.replace('APP', templateID)}?${name}=${text}`)
    await expectClear('GET', `${path.replace('APP', templateID)}?${name}=a&${name}=b`)
  }
})

const ODD_VALUES = [undefined, null, true, '', '\0', 'app\0', '\ud800', -1, 1.5, [], [null], ['\0'], ['a'.repeat(70_000)], {}, { a: 1 }]

it.each<[Method, string, Record<string, unknown>]>([
  ['PATCH', '/v2/templates/app', { public: true }],
  ['POST', '/templates/tags', { target: 'app', tags: ['x'] }],
  ['DELETE', '/templates/tags', { name: 'app', tags: ['x'] }],
])('%s %s has a clear answer to every odd body', async (method, path, body) => {
  for (const value of ODD_VALUES) {
    await expectClear(method, path, value)
    for (const field of Object.keys(body)) await expectClear(method, path, { ...body, [field]: value })
  }
})
