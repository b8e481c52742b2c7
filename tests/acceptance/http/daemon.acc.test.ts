import { expect, test } from 'vitest'
import { callRpc, daemonHeaders, openStream, type Envelope } from '../support/connect-rpc.ts'
import { withRawSandbox, type RawSandbox } from '../support/raw-sandbox.ts'
import { throughProxy } from '../support/through-proxy.ts'

const denied = { code: 401, message: 'unauthorized access, please provide a valid access token or method signing if supported' }
const json = 'application/json; charset=utf-8'

async function withSecureSandbox(work: (sandbox: RawSandbox) => Promise<void>, body: Record<string, unknown> = {}): Promise<void> {
  await withRawSandbox('POST /v2/sandboxes', body, work)
}

function shell(command: string): object {
  return { process: { cmd: '/bin/bash', args: ['-c', command] }, stdin: false }
}

async function all(envelopes: AsyncIterable<Envelope>): Promise<Envelope[]> {
  const seen: Envelope[] = []
  for await (const envelope of envelopes) seen.push(envelope)
  return seen
}

test('[process.Process/Start] a stream has a start, data, an end and an end envelope, in uncompressed JSON', async () => {
  await withSecureSandbox(async (sandbox) => {
    const { status, contentType, envelopes } = await openStream(sandbox, 'process.Process/Start', shell('echo hi; exit 3'))
    expect({ status, contentType }).toEqual({ status: 200, contentType: 'application/connect+json' })
    expect(await all(envelopes)).toEqual([
      { flags: 0, message: { event: { start: { pid: expect.any(Number) } } } },
      { flags: 0, message: { event: { data: { stdout: 'aGkK' } } } },
      { flags: 0, message: { event: { end: { exitCode: 3, exited: true, status: 'exit status 3', error: 'exit status 3' } } } },
      { flags: 2, message: {} },
    ])
  })
})

test('[process.Process/Start] [process.Process/Connect] a stream that fails reports the error in its end envelope', async () => {
  await withSecureSandbox(async (sandbox) => {
    const failures: [string, object, Record<string, string>, object][] = [
      ['Connect', { process: { pid: 4_000_000 } }, {}, { code: 'not_found', message: 'process with pid 4000000 not found' }],
      ['Start', { process: { cmd: 'true', cwd: '/nope' } }, {}, { code: 'invalid_argument', message: "cwd '/nope' does not exist" }],
      [
        'Start',
        shell('true'),
        { authorization: `Basic ${btoa('ghost:')}` },
        { code: 'unauthenticated', message: "invalid username: 'ghost'" },
      ],
      [
        'Start',
        shell('true'),
        { 'connect-protocol-version': '2' },
        { code: 'invalid_argument', message: expect.stringContaining('Connect-Protocol-Version') },
      ],
    ]
    for (const [method, request, headers, error] of failures) {
      const { status, envelopes } = await openStream(sandbox, `process.Process/${method}`, request, headers)
      expect({ status, envelopes: await all(envelopes) }).toEqual({ status: 200, envelopes: [{ flags: 2, message: { error } }] })
    }
  })
})

test('[process.Process/Start] a silent stream gets keepalives at the requested interval and ends at its deadline', async () => {
  await withSecureSandbox(async (sandbox) => {
    const headers = { 'keepalive-ping-interval': '1', 'connect-timeout-ms': '2500' }
    const { envelopes } = await openStream(sandbox, 'process.Process/Start', shell('exec sleep 600'), headers)
    const seen = await all(envelopes)
    expect(seen).toContainEqual({ flags: 0, message: { event: { keepalive: {} } } })
    expect(seen.at(-1)).toMatchObject({ flags: 2, message: { error: { code: 'deadline_exceeded' } } })
  })
})

test('[filesystem.Filesystem/Stat] [process.Process/List] a unary call and a stream without the token get the same 401', async () => {
  await withSecureSandbox(async ({ id, answer }) => {
    const stranger = { id, token: '', answer }
    const unary = await callRpc(stranger, 'filesystem.Filesystem/Stat', '{"path":"/"}')
    expect(unary).toMatchObject({ status: 401, headers: { 'content-type': json } })
    expect(JSON.parse(unary.text)).toEqual(denied)
    const stream = await callRpc(stranger, 'process.Process/Start', '', { 'content-type': 'application/connect+json' })
    expect(JSON.parse(stream.text)).toEqual(denied)
    const preflight = await throughProxy(daemonHeaders(stranger), {
      method: 'OPTIONS',
      path: '/process.Process/List',
      headers: { origin: 'https://app.test', 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-access-token' },
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-access-token' },
    })
  })
})

test('[filesystem.Filesystem/Stat] returns JSON numbers, and errors with a Connect code', async () => {
  await withSecureSandbox(async (sandbox) => {
    await throughProxy(daemonHeaders(sandbox), {
      method: 'POST',
      path: '/files?path=empty',
      headers: { 'content-type': 'application/octet-stream', 'content-length': '0' },
    })
    const found = await callRpc(sandbox, 'filesystem.Filesystem/Stat', '{"path":"empty","unknownField":1}')
    expect(found).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('application/json') } })
    expect(JSON.parse(found.text)).toMatchObject({
      entry: {
        name: 'empty',
        type: 'FILE_TYPE_FILE',
        path: '/home/user/empty',
        size: 0,
        mode: 0o644,
        permissions: '-rw-r--r--',
        owner: 'user',
        group: 'user',
        modifiedTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      },
    })
    const missing = await callRpc(sandbox, 'filesystem.Filesystem/Stat', '{"path":"gone"}')
    expect(missing.status).toBe(404)
    expect(JSON.parse(missing.text)).toEqual({
      code: 'not_found',
      message: 'file not found: lstat /home/user/gone: no such file or directory',
    })
  })
})

test('[filesystem.Filesystem/Stat] refuses invalid calls', async () => {
  await withSecureSandbox(async (sandbox) => {
    const method = 'filesystem.Filesystem/Stat'
    const invalid = { code: 'invalid_argument', message: expect.stringMatching(/./) }
    for (const [body, headers] of [
      ['{"path":', {}],
      ['{"path":7}', {}],
      ['{"path":"/"}', { 'connect-protocol-version': '' }],
    ] as const) {
      const answer = await callRpc(sandbox, method, body, headers)
      expect({ status: answer.status, body: JSON.parse(answer.text) as unknown }, body).toEqual({ status: 400, body: invalid })
    }
    expect(await callRpc(sandbox, method, '{}', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
    expect(await throughProxy(daemonHeaders(sandbox), { path: `/${method}` })).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    expect(await callRpc(sandbox, 'filesystem.Filesystem/NoSuch', '{}')).toMatchObject({ status: 404 })
    expect(await throughProxy(daemonHeaders(sandbox), { path: '/no-such-route' })).toMatchObject({ status: 404 })
  })
})

test('[daemon GET /envs] returns the variables of the sandbox to a client with the token', async () => {
  await withSecureSandbox(
    async (sandbox) => {
      const answer = await throughProxy(daemonHeaders(sandbox), { path: '/envs' })
      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.text)).toMatchObject({ OWN: 'välue', E2B_SANDBOX_ID: sandbox.id })
      expect(await throughProxy(daemonHeaders({ id: sandbox.id, token: '' }), { path: '/envs' })).toMatchObject({ status: 401 })
    },
    { envVars: { OWN: 'välue' } },
  )
})

test('[daemon GET /files] answers range and conditional requests', async () => {
  await withSecureSandbox(async (sandbox) => {
    const upload = {
      method: 'POST',
      path: '/files?path=ten.txt',
      body: '0123456789',
      headers: { 'content-type': 'application/octet-stream', 'content-length': '10' },
    }
    expect(await throughProxy(daemonHeaders(sandbox), upload)).toMatchObject({ status: 200 })
    const get = (headers: Record<string, string>) => throughProxy(daemonHeaders(sandbox), { path: '/files?path=ten.txt', headers })
    const whole = await get({ 'accept-encoding': 'identity' })
    expect(whole).toMatchObject({
      status: 200,
      text: '0123456789',
      headers: { 'content-length': '10', 'accept-ranges': 'bytes', 'content-disposition': 'inline; filename=ten.txt' },
    })
    expect(await get({ range: 'bytes=2-4' })).toMatchObject({ status: 206, text: '234', headers: { 'content-range': 'bytes 2-4/10' } })
    expect(await get({ range: 'bytes=20-' })).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */10' } })
    expect(await get({ 'if-modified-since': String(whole.headers['last-modified']) })).toMatchObject({ status: 304, text: '' })
    expect(await get({ 'accept-encoding': 'gzip' })).toMatchObject({
      status: 200,
      headers: { 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    })
  })
})
