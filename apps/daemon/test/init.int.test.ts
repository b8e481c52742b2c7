import { describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

async function init(daemon: TestDaemon, body?: unknown) {
  const response = await fetch(`${daemon.url}/init`, {
    method: 'POST',
    headers: { 'content-type': 'none at all' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  expect(response.headers.get('x-envd-version')).toBe('0.6.13')
  return [response.status, await response.text()]
}

async function variables(daemon: TestDaemon, token = ''): Promise<unknown> {
  return (await fetch(`${daemon.url}/envs`, { headers: { 'x-access-token': token } })).json()
}

describe('/init', () => {
  it('[daemon POST /init] replaces the variables, except those of the platform (envd.md 18.11)', async () => {
    await using daemon = await startDaemon()
    const platform = { E2B_SANDBOX: 'true' }
    expect(await variables(daemon)).toEqual(platform)
    expect(await init(daemon, { envVars: { A: '1', E2B_SANDBOX: 'x', __proto__x: null } })).toEqual([204, ''])
    expect(await variables(daemon)).toEqual({ A: '1', __proto__x: '', ...platform })
    await init(daemon, { envVars: { B: '2' } })
    expect(await variables(daemon)).toEqual({ B: '2', ...platform })
    await init(daemon, { envVars: null })
    await init(daemon)
    expect(await variables(daemon)).toEqual({ B: '2', ...platform })
    await init(daemon, { envVars: {} })
    expect(await variables(daemon)).toEqual(platform)
  })

  it('[daemon POST /init] sets user and workdir, and keeps them for empty ones', async () => {
    await using daemon = await startDaemon()
    await init(daemon, { defaultUser: 'nobody', defaultWorkdir: '/work' })
    await init(daemon, { defaultUser: '', defaultWorkdir: null })
    expect([daemon.context.state.defaultUser, daemon.context.state.defaultWorkdir]).toEqual(['nobody', '/work'])
  })

  it('[daemon POST /init] ignores a request that is older than the last one (envd.md 18.10)', async () => {
    await using daemon = await startDaemon()
    await init(daemon, { timestamp: '2026-01-01T00:00:00.000000002Z', envVars: { A: 'new' } })
    expect(await init(daemon, { timestamp: '2026-01-01T00:00:00.000000001Z', envVars: { A: 'old' }, accessToken: 'x' })).toEqual([204, ''])
    expect(await variables(daemon)).toMatchObject({ A: 'new' })
    await init(daemon, { timestamp: '2026-01-01T01:00:00,000000002+01:00', envVars: { A: 'same' } })
    expect(await variables(daemon)).toMatchObject({ A: 'same' })
    await init(daemon, { envVars: { A: 'timeless' } })
    expect(await variables(daemon)).toMatchObject({ A: 'timeless' })
  })

  it.each([
    '{',
    '[]',
    '"x"',
    '{} {}',
    '{"envVars":{"A":1}}',
    '{"envVars":[]}',
    '{"accessToken":""}',
    '{"accessToken":1}',
    '{"accessToken":"a\\u0062"}',
    '{"timestamp":"yesterday"}',
    '{"timestamp":"2026-13-01T00:00:00Z"}',
    '{"timestamp":5}',
    '{"defaultUser":5}',
    '{"timestamp":"2026-02-30T00:00:00Z"}',
    '{"timestamp":"2026-01-01T24:00:00Z"}',
    '{"timestamp":"2026-01-01T00:00:60Z"}',
    '{"timestamp":"2026-01-01T00:00:00+25:00"}',
    '{"lifecycleID":5}',
    '{"caBundle":5}',
    '{"hyperloopIP":5}',
    '{"volumeMounts":{}}',
    '{"volumeMounts":[1]}',
    '{"volumeMounts":[{"nfs_target":1,"path":"/mnt"}]}',
  ])('[daemon POST /init] %s gets a 400 and changes nothing (envd.md 18.12)', async (body) => {
    await using daemon = await startDaemon()
    expect(await init(daemon, body)).toEqual([400, ''])
    expect(daemon.context.state.initialised).toBe(false)
  })

  it('refuses a body that is too large', async () => {
    await using daemon = await startDaemon()
    expect((await init(daemon, ' '.repeat(9 * 1024 * 1024)))[0]).toBe(400)
    expect((await init(daemon, '{}'))[0]).toBe(204)
  })
})

describe('who may change the token', () => {
  const FAILED = [401, 'access token validation failed']
  const NO_RESET = [401, 'access token reset not authorized']
  const OK = [204, '']

  it('[daemon POST /init] without a platform: the first caller, which can only confirm the token later (envd.md 18.12)', async () => {
    await using daemon = await startDaemon()
    expect(await init(daemon, {})).toEqual(OK)
    expect(await init(daemon, { accessToken: 'a' })).toEqual(OK)
    expect(await init(daemon, { accessToken: 'a' })).toEqual(OK)
    expect(await init(daemon, { accessToken: 'b' })).toEqual(FAILED)
    expect(await init(daemon, {})).toEqual(NO_RESET)
    expect(await variables(daemon, 'a')).toEqual({ E2B_SANDBOX: 'true' })
  })

  it('without a platform an identity and a key change nothing', async () => {
    await using daemon = await startDaemon()
    const identity = { sandboxID: 'i1', templateID: 't1', buildID: 'b1', tunnelSecretHash: 'f'.repeat(128) }
    expect(await init(daemon, { identity, accessToken: 'a' })).toEqual(OK)
    expect(await variables(daemon, 'a')).toEqual({ E2B_SANDBOX: 'true' })
    const headers = { 'x-sandyard-instance-key': 'any' }
    const answer = await fetch(`${daemon.url}/init`, { method: 'POST', headers, body: JSON.stringify({ accessToken: 'b' }) })
    expect([answer.status, await answer.text()]).toEqual(FAILED)
  })
})
