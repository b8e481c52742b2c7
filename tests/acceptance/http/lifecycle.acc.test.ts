import { Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { callApi, unknownSandboxId } from '../support/api.ts'
import { containersWith, engine } from '../support/engine.ts'
import { withRawSandbox } from '../support/raw-sandbox.ts'
import { fromEnvironment } from '../support/server.ts'
import { dateTime, integerFrom, templateId, uuid } from '../support/shapes.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }

/** The parts of an answer that a refusal consists of. */
function refusal(code: number, message: unknown): object {
  return { status: code, body: { code, message } }
}

function unknown(id: string): object {
  return refusal(404, `Sandbox "${id}" doesn't exist or you don't have access to it`)
}

async function events(id: string, query = ''): Promise<Record<string, unknown>[]> {
  const { text } = await callApi(`GET /sandboxes/${id}/events${query}`)
  return JSON.parse(text) as Record<string, unknown>[]
}

test('[POST /sandboxes/{sandboxID}/pause] [POST /sandboxes/{sandboxID}/resume] [POST /sandboxes/{sandboxID}/connect] [GET /sandboxes/{sandboxID}/events] [GET /events/sandboxes/{sandboxID}] [GET /sandboxes/{sandboxID}/logs] [GET /v2/sandboxes/{sandboxID}/logs] the states of a sandbox, and its history after the end', async () => {
  const id = await withRawSandbox('POST /sandboxes', { timeout: 300 }, async (sandbox) => {
    const url = `/sandboxes/${sandbox.id}`
    const call = (operation: string, body?: unknown) => callApi(operation.replace(' ', ` ${url}`), body === undefined ? {} : { body })
    expect(await call('POST /resume', {})).toMatchObject(refusal(409, `Sandbox ${sandbox.id} is already running`))
    expect(await call('POST /pause', { memory: 'x' })).toMatchObject(refusal(400, expect.stringMatching(/^validation error/)))

    const pauses = await Promise.all([call('POST /pause'), call('POST /pause', {}), call('POST /pause', { memory: true })])
    for (const { status, text } of pauses) expect(status === 204 ? text : status).toSatisfy((seen) => seen === '' || seen === 409)
    expect(pauses.map(({ status }) => status)).toContain(204)
    expect(await call('POST /pause')).toMatchObject(refusal(409, `Error pausing sandbox - sandbox '${sandbox.id}' is already paused`))
    expect((await call('GET ')).body).toMatchObject({
      state: 'paused',
      pauseMode: 'full',
      lifecycle: { onTimeout: 'kill', autoResume: false },
    })
    expect(await call('POST /timeout', { timeout: 60 })).toMatchObject(unknown(sandbox.id))
    expect(await call('POST /refreshes', {})).toMatchObject(unknown(sandbox.id))
    expect(await call('PUT /network', {})).toMatchObject({ status: 204 })
    expect(await call('POST /snapshots', {})).toMatchObject(unknown(sandbox.id))
    const unforkable = `Sandbox '${sandbox.id}' is paused and cannot be forked; resume it first`
    expect(await call('POST /fork')).toMatchObject(refusal(409, unforkable))
    const tooLong = refusal(400, expect.stringMatching(/^Timeout cannot be greater than \d+ hours$/))
    expect(await call('POST /resume', { timeout: 2_000_000_000 })).toMatchObject(tooLong)
    expect(await call('POST /connect', {})).toMatchObject(refusal(400, expect.stringMatching(/^validation error/)))

    const resumed = await call('POST /resume', { autoPause: true })
    expect(resumed).toMatchObject({
      status: 201,
      body: { sandboxID: sandbox.id, templateID: templateId, clientID: '6532622b', envdVersion: '0.6.13' },
    })
    const running = (await call('GET ')).body
    expect(running).toMatchObject({ state: 'running', lifecycle: { onTimeout: 'pause', autoResume: false } })
    expect(Date.parse(String(running['endAt'])) - Date.parse(String(running['startedAt']))).toBe(15_000)
    expect(await call('POST /connect', { timeout: 300 })).toMatchObject({ status: 200, body: { sandboxID: sandbox.id } })

    expect(await call('POST /fork', { count: 0 })).toMatchObject(refusal(400, expect.stringMatching(/^validation error/)))
    expect(await call('POST /fork', { count: 101 })).toMatchObject(refusal(400, expect.stringMatching(/^validation error/)))
    expect(await call('POST /snapshots', { name: 'other/name' })).toMatchObject(
      refusal(400, expect.stringMatching(/^namespace 'other' must match your team '[a-z0-9-]+'$/)),
    )
    expect(await call('POST /snapshots', { name: 'no spaces' })).toMatchObject(refusal(400, expect.stringMatching(/^Invalid name: /)))
    expect(await call('POST /snapshots', { memory: true })).toMatchObject(refusal(501, expect.stringContaining(`'memory'`)))

    expect(await call('POST /pause', { memory: false })).toMatchObject({ status: 204, text: '' })
    expect(await call('POST /connect', { timeout: 300 })).toMatchObject({ status: 201, body: { sandboxID: sandbox.id } })
    expect(await call('POST /timeout', { timeout: 0 })).toMatchObject({ status: 204 })
    // A sandbox is shown as paused from the beginning of its pause; the mode is added at the end.
    await expect.poll(async () => (await call('GET ')).body, PATIENCE).toMatchObject({ state: 'paused', pauseMode: 'full' })
    expect(await call('DELETE ')).toMatchObject({ status: 204, text: '' })
    expect(await call('DELETE ')).toMatchObject(unknown(sandbox.id))
    expect(await call('POST /resume', {})).toMatchObject(unknown(sandbox.id))
    expect(await call('POST /pause')).toMatchObject(unknown(sandbox.id))
    return sandbox.id
  })

  await expect.poll(async () => (await events(id)).at(-1)?.['type'], PATIENCE).toBe('sandbox.ended')
  const all = await events(id)
  expect(all.map(({ type, eventData }) => [type, (eventData as { actor: { kind: string } }).actor.kind])).toEqual([
    ['sandbox.starting', 'key'],
    ['sandbox.running', 'key'],
    ['sandbox.pausing', 'key'],
    ['sandbox.paused', 'key'],
    ['sandbox.network_changed', 'key'],
    ['sandbox.resuming', 'key'],
    ['sandbox.resumed', 'key'],
    ['sandbox.timeout_changed', 'key'],
    ['sandbox.pausing', 'key'],
    ['sandbox.paused', 'key'],
    ['sandbox.resuming', 'key'],
    ['sandbox.resumed', 'key'],
    ['sandbox.timeout_changed', 'key'],
    ['sandbox.pausing', 'timeout'],
    ['sandbox.paused', 'timeout'],
    ['sandbox.killing', 'key'],
    ['sandbox.ended', 'key'],
  ])
  for (const event of all) {
    expect(event).toMatchObject({ sandboxId: id, version: 'v1', timestamp: dateTime, sandboxTemplateId: templateId, sandboxBuildId: uuid })
  }
  const places = all.map(({ place }) => place as number)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  const first = await events(id, '?limit=5')
  expect([...first, ...(await events(id, `?after=${String(first.at(-1)?.['place'])}`))]).toEqual(all)
  expect(await events(id, `?after=${places.at(-1) ?? 0}`)).toEqual([])

  const hosted = JSON.parse((await callApi(`GET /events/sandboxes/${id}?orderAsc=true`)).text) as { type: string }[]
  const changes = ['created', 'paused', 'updated', 'resumed', 'updated', 'paused', 'resumed', 'updated', 'paused', 'killed']
  expect(hosted.map(({ type }) => type)).toEqual(changes.map((change) => `sandbox.lifecycle.${change}`))

  const { body: logs } = await callApi(`GET /v2/sandboxes/${id}/logs?direction=forward`)
  const messages = (logs['logs'] as { message: string }[]).map(({ message }) => message)
  expect(messages).toEqual(expect.arrayContaining(['Sandbox started', 'Sandbox resumed', 'Sandbox is ending']))
  const { body: limited } = await callApi(`GET /v2/sandboxes/${id}/logs?direction=forward&limit=2&search=Sandbox`)
  expect(limited['logs']).toEqual((logs['logs'] as object[]).slice(0, 2))
  expect((await callApi(`GET /v2/sandboxes/${id}/logs?level=error`)).body).toEqual({ logs: [] })
  const { body: old } = await callApi(`GET /sandboxes/${id}/logs?limit=2`)
  expect(old['logEntries']).toEqual(limited['logs'])
  const lines = (old['logs'] as { line: string }[]).map(({ line }) => JSON.parse(line) as object)
  expect(lines).toMatchObject([
    { message: 'Sandbox is starting', level: 'info' },
    { message: 'Sandbox started', level: 'info' },
  ])
})

test('[POST /sandboxes/{sandboxID}/fork] [POST /sandboxes/{sandboxID}/snapshots] [PUT /sandboxes/{sandboxID}/network] [GET /sandboxes/{sandboxID}/events] every operation returns 404 for an unknown sandbox', async () => {
  const calls: [string, unknown][] = [
    ['POST /pause', {}],
    ['POST /resume', {}],
    ['POST /fork', {}],
    ['POST /snapshots', {}],
    ['PUT /network', {}],
    ['GET /events', undefined],
  ]
  for (const [operation, body] of calls) {
    const answer = await callApi(operation.replace(' ', ` /sandboxes/${unknownSandboxId}`), body === undefined ? {} : { body })
    expect(answer, operation).toMatchObject(unknown(unknownSandboxId))
  }
  expect(await callApi(`GET /snapshots?sandboxID=${unknownSandboxId}`)).toMatchObject({ status: 200, text: '[]' })
  expect(await callApi('GET /snapshots?nextToken=garbage')).toMatchObject(refusal(400, 'Invalid next token'))
  expect(await callApi(`GET /v2/sandboxes/${unknownSandboxId}/logs`)).toMatchObject({ status: 200, body: { logs: [] } })
})

test('[POST /sandboxes/{sandboxID}/pause] a strict pause refuses a sandbox whose daemon does not answer; another one pauses it, and it starts from its files', async () => {
  const sandbox = await Sandbox.create()
  const url = `/sandboxes/${sandbox.sandboxId}`
  try {
    await sandbox.files.write('kept', 'kept')
    // The daemon is the parent of the command.
    await sandbox.commands.run('until [ -e /tmp/stop ]; do sleep 0.02; done; kill -STOP $PPID', {
      background: true,
      user: 'root',
      timeoutMs: 0,
    })
    sandbox.files.write('/tmp/stop', '', { requestTimeoutMs: 5000 }).catch(() => undefined)
    const [container = ''] = await containersWith(`sandyard.sandbox-id=${sandbox.sandboxId}`)
    await expect.poll(async () => (await engine('top', container, '-eo', 'pid,stat')).some((line) => / T/.test(line)), PATIENCE).toBe(true)

    const refused = await callApi(`POST ${url}/pause`, { body: { requireHealthyGuest: true } })
    expect(refused).toMatchObject({ status: 503, body: { code: 503, error_code: 'sandbox_snapshot_guest_agent_unresponsive' } })
    expect((await callApi(`GET ${url}`)).body).toMatchObject({ state: 'running' })

    expect(await callApi(`POST ${url}/pause`)).toMatchObject({ status: 204 })
    expect((await callApi(`GET ${url}`)).body).toMatchObject({ state: 'paused', envdUnresponsiveAtPause: true })
    const plain = await callApi(`POST /v2${url}/connect`, { body: {} })
    expect(plain).toMatchObject({ status: 409, body: { code: 409, error_code: 'sandbox_snapshot_guest_agent_unresponsive' } })
    const again = await Sandbox.connect(sandbox.sandboxId, { onResume: 'reboot' })
    expect(await again.files.read('kept')).toBe('kept')
    expect((await callApi(`GET ${url}`)).body['envdUnresponsiveAtPause']).toBeUndefined()
  } finally {
    await sandbox.kill()
  }
})

describe('[GET /teams/{teamID}/metrics/max]', () => {
  test('returns the highest value of a metric, and refuses an unknown metric and another team', async () => {
    const teams = await callApi('GET /teams', { key: false, headers: { authorization: `Bearer ${fromEnvironment('E2B_ACCESS_TOKEN')}` } })
    const [{ teamID } = { teamID: '' }] = JSON.parse(teams.text) as { teamID: string }[]
    for (const metric of ['concurrent_sandboxes', 'sandbox_start_rate']) {
      const { status, body } = await callApi(`GET /teams/${teamID}/metrics/max?metric=${metric}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ timestamp: dateTime, timestampUnix: integerFrom(0), value: expect.any(Number) })
    }
    expect(await callApi(`GET /teams/${teamID}/metrics/max?metric=other`)).toMatchObject({ status: 400, body: { code: 400 } })
    expect((await callApi(`GET /teams/00000000-0000-4000-8000-000000000000/metrics`)).status).toBe(403)
  })
})
