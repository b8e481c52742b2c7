import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuildsWorld, type BuildsWorld } from './support/build-callers.ts'
import type { Answer } from './support/control-plane.ts'

let builds: BuildsWorld
beforeAll(async () => {
  builds = await createBuildsWorld({ SANDYARD_MAX_BUILDS: '100000' })
})
afterAll(() => builds[Symbol.asyncDispose]())

const ODD: readonly unknown[] = [
  null,
  true,
  '',
  '\0',
  '\ud800',
  "'; drop table build; --",
  'a'.repeat(70_000),
  -1,
  1.5,
  1e308,
  2_147_483_648,
  [],
  [null],
  ['\0', '\udfff'],
  {},
  { '': '' },
  { '\0': '\0' },
  { constructor: { prototype: { polluted: true } } },
]

/** The 500 is a documented answer (control-plane.md 10.5). */
function expectClear(answer: Answer, what: string): void {
  const { status, text, body } = answer
  expect(status, `${what}: ${text.slice(0, 200)}`).toSatisfy(
    (code: number) => code < 500 || (code === 500 && /must specify|cannot specify/.test(text)),
  )
  expect(text.length, what).toBeLessThan(2000)
  if (status >= 400) expect(body, what).toEqual({ code: status, message: expect.any(String) })
}

describe.each<[string, 'withKey' | 'withToken', object, string]>([
  ['/v3/templates', 'withKey', { name: 'odd' }, 'name alias tags teamID cpuCount memoryMB minFreeDiskMb'],
  ['/v2/templates', 'withKey', { alias: 'odd' }, 'alias teamID cpuCount memoryMB'],
  ['/templates', 'withToken', { dockerfile: 'FROM a' }, 'dockerfile alias teamID startCmd readyCmd cpuCount memoryMB'],
  ['/templates/ID', 'withToken', { dockerfile: 'FROM a' }, 'dockerfile alias teamID startCmd readyCmd cpuCount memoryMB'],
  [
    '/v2/templates/ID/builds/BUILD',
    'withKey',
    { fromImage: 'a' },
    'fromImage fromTemplate fromImageRegistry force steps startCmd readyCmd',
  ],
])('POST %s', (route, how, valid, fields) => {
  const call = async (body: unknown): Promise<Answer> => {
    const { templateID, buildID } = (await builds.acme.withKey('POST', '/v3/templates', { name: 'odd' })).body
    const url = route.replace('ID', templateID).replace('BUILD', buildID)
    return builds.acme[how]('POST', url, JSON.stringify(body), { 'content-type': 'application/json' })
  }

  it('answers every invalid value of every field', async () => {
    for (const value of ODD) {
      expectClear(await call(value), JSON.stringify(value).slice(0, 100))
      for (const field of fields.split(' '))
        expectClear(await call({ ...valid, [field]: value }), `${field} ${JSON.stringify(value).slice(0, 100)}`)
    }
  })
})

it('answers every invalid value of every field of a step', async () => {
  for (const value of ODD) {
    for (const field of ['type', 'args', 'filesHash', 'force']) {
      const { templateID, buildID } = (await builds.acme.withKey('POST', '/v3/templates', { name: 'steps' })).body
      const body = { fromImage: 'a', steps: [{ type: 'RUN', args: ['x'], [field]: value }] }
      expectClear(
        await builds.acme.withKey('POST', `/v2/templates/${templateID}/builds/${buildID}`, body),
        `${field} ${JSON.stringify(value).slice(0, 100)}`,
      )
    }
  }
})

it('answers every invalid path', async () => {
  for (const odd of ['%00', '%ff', '%ED%A0%80', '%', 'a%2Fb', 'a.b', '-1', 'a'.repeat(4000), '%F0%9F%92%A9']) {
    for (const [template, build] of [
      [odd, 'x'],
      ['x', odd],
      [odd, '00000000-0000-4000-8000-000000000000'],
    ]) {
      const base = `/templates/${template}/builds/${build}`
      expectClear(await builds.acme.withKey('POST', `/v2${base}`, { fromImage: 'a' }), base)
      expectClear(await builds.acme.withToken('POST', base), base)
      for (const what of ['status', 'logs']) expectClear(await builds.acme.withKey('GET', `${base}/${what}`), base)
    }
    expectClear(await builds.acme.withToken('POST', `/templates/${odd}`, { dockerfile: 'FROM a' }), odd)
  }
})

it('accepts steps up to the size of a body', async () => {
  const { templateID, buildID } = (await builds.acme.withKey('POST', '/v3/templates', { name: 'large' })).body
  const steps = Array.from({ length: 1000 }, () => ({ type: 'RUN', args: ['x'.repeat(15_000)] }))
  expect((await builds.acme.withKey('POST', `/v2/templates/${templateID}/builds/${buildID}`, { fromImage: 'a', steps })).status).toBe(202)
})
