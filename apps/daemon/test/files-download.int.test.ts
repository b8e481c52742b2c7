import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { Secret } from '@sandyard/kit/config/secret'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileSignature } from '../src/files/file-signature.ts'
import { useDaemon, waitForOpenFiles } from './support/daemon-fixture.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import { asUser, type TestDaemon } from './support/test-daemon.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string
beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

function get(path: string, headers: Record<string, string> = {}, query = ''): Promise<Answer> {
  return exchange(daemon.url, { path: `/files?path=${encodeURIComponent(path)}${query}`, headers })
}

function errorOf(answer: Answer): unknown {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.text.endsWith('\n')).toBe(true)
  return JSON.parse(answer.text)
}

describe('GET /files', () => {
  it('[daemon GET /files] sends the bytes of a file with their type, length and date', async () => {
    await writeFile(`${dir}/my file.json`, '{"a":1}')
    await utimes(`${dir}/my file.json`, 0, 784_111_777.9)
    const answer = await get(`${dir}/my file.json`)
    expect([answer.status, answer.text]).toEqual([200, '{"a":1}'])
    expect(answer.headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-disposition': 'inline; filename="my file.json"',
      'content-length': '7',
      'content-type': 'application/json',
      'last-modified': 'Sun, 06 Nov 1994 08:49:37 GMT',
      vary: 'Accept-Encoding',
    })
    for (const absent of ['etag', 'content-encoding']) expect(answer.headers).not.toHaveProperty(absent)
  })

  it('[daemon GET /files] answers with the documented errors (envd.md 18.25)', async () => {
    await writeFile(`${dir}/file`, '')
    await run('mkfifo', [`${dir}/fifo`])
    const failures = async (path: string, query = '') => {
      const answer = await get(path, {}, query)
      return { status: answer.status, error: errorOf(answer) }
    }
    const failure = (status: number, message: string) => ({ status, error: { code: status, message } })
    expect(await failures(`${dir}/missing`)).toEqual(failure(404, `path '${dir}/missing' does not exist`))
    expect(await failures(dir)).toEqual(failure(400, `path '${dir}' is a directory`))
    expect(await failures('', '&username=daemon')).toEqual(failure(400, "path '/usr/sbin' is a directory"))
    expect(await failures(`${dir}/file/x`)).toEqual(
      failure(500, `error checking if path exists '${dir}/file/x': stat ${dir}/file/x: not a directory`),
    )
    expect(await failures('~x')).toEqual(
      failure(
        400,
        "error expanding and resolving path '~x': failed to expand path '~x' for user 'root': cannot expand user-specific home dir",
      ),
    )
    expect(await failures(`${dir}/file`, '&username=ghost')).toEqual(
      failure(401, "error looking up user 'ghost': user: unknown user ghost"),
    )
    expect(await failures(`${dir}/file`, '&username=')).toEqual(failure(401, "error looking up user '': user: unknown user "))
    expect(await failures(`${dir}/fifo`)).toEqual(failure(400, `path '${dir}/fifo' is not a regular file`))
    expect((await failures('/a\0b')).status).toBe(400)
  })

  it('[daemon GET /files] refuses an unknown account of the Basic header (envd.md 18.2)', async () => {
    await writeFile(`${dir}/file`, '')
    const answer = await get(`${dir}/file`, asUser('ghost').headers)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([401, { code: 'unauthenticated', message: "invalid username: 'ghost'" }])
  })

  it('[daemon GET /files] answers a malformed query in plain text, and other methods and spellings as unknown routes', async () => {
    const repeated = await exchange(daemon.url, { path: '/files?path=a&path=b' })
    expect([repeated.status, repeated.headers['content-type'], repeated.text]).toEqual([
      400,
      'text/plain; charset=utf-8',
      "Invalid format for parameter path: multiple values for single value parameter 'path'\n",
    ])
    const head = await exchange(daemon.url, { method: 'HEAD', path: '/files?path=/etc/passwd' })
    expect([head.status, head.headers.allow]).toEqual([405, 'GET, POST'])
    expect((await exchange(daemon.url, { path: '/files/?path=/etc/passwd' })).status).toBe(404)
  })

  it('[daemon GET /files] sends ranges of small and large files', async () => {
    for (const content of [Buffer.from('0123456789abc'), randomBytes(700_000)]) {
      await writeFile(`${dir}/f.bin`, content)
      const size = content.length
      const tail = await get(`${dir}/f.bin`, { range: 'bytes=-3' })
      expect([tail.status, tail.headers['content-range'], tail.body]).toEqual([
        206,
        `bytes ${size - 3}-${size - 1}/${size}`,
        content.subarray(-3),
      ])
      const open = await get(`${dir}/f.bin`, { range: 'bytes=5-' })
      expect([open.status, open.headers['content-length'], open.body.equals(content.subarray(5))]).toEqual([206, String(size - 5), true])
      const beyond = await get(`${dir}/f.bin`, { range: `bytes=${size}-` })
      expect([beyond.status, beyond.headers['content-range'], beyond.text]).toEqual([
        416,
        `bytes */${size}`,
        'invalid range: failed to overlap\n',
      ])

      const several = await get(`${dir}/f.bin`, { range: 'bytes=0-1,4-5' })
      const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(several.headers['content-type'] ?? '')?.[1]
      const part = (first: number, last: number) =>
        `--${boundary}\r\nContent-Range: bytes ${first}-${last}/${size}\r\nContent-Type: application/octet-stream\r\n\r\n` +
        `${content.toString('latin1', first, last + 1)}\r\n`
      expect(several.body.toString('latin1')).toBe(`${part(0, 1)}${part(4, 5)}--${boundary}--\r\n`)
      expect([several.status, several.headers['content-length']]).toEqual([206, String(several.body.length)])
    }
  })

  it('[daemon GET /files] evaluates conditions by the modification time (envd.md 18.24)', async () => {
    await writeFile(`${dir}/f`, 'x')
    await utimes(`${dir}/f`, 0, 784_111_777)
    const same = 'Sun, 06 Nov 1994 08:49:37 GMT'
    const unchanged = await get(`${dir}/f`, { 'if-modified-since': same })
    expect([unchanged.status, unchanged.text, unchanged.headers['content-type']]).toEqual([304, '', undefined])
    expect((await get(`${dir}/f`, { 'if-none-match': '*' })).status).toBe(304)
    expect((await get(`${dir}/f`, { 'if-none-match': '"x"', 'if-modified-since': same })).status).toBe(200)
    const failed = await get(`${dir}/f`, { 'if-match': '"x"' })
    expect([failed.status, failed.text]).toEqual([412, ''])
    expect((await get(`${dir}/f`, { range: 'bytes=0-0', 'if-range': same })).status).toBe(206)
    expect((await get(`${dir}/f`, { range: 'bytes=0-0', 'if-range': '"x"' })).status).toBe(200)
  })

  it('[daemon GET /files] takes the first of a repeated header', async () => {
    await writeFile(`${dir}/f`, '0123')
    const repeated = (name: string, ...values: string[]) =>
      exchange(daemon.url, { path: `/files?path=${dir}/f`, headers: { [name]: values } })
    expect((await repeated('range', 'bytes=0-0', 'bytes=2-3')).text).toBe('0')
    expect((await repeated('accept-encoding', 'br', 'gzip')).headers).not.toHaveProperty('content-encoding')
    expect((await repeated('if-none-match', '"a"', '*')).status).toBe(200)
    expect((await repeated('if-match', '*', '"a"')).status).toBe(200)
  })

  it('[daemon GET /files] sends empty files in every form (envd.md 18.24)', async () => {
    await writeFile(`${dir}/empty`, '')
    const plain = await get(`${dir}/empty`, { range: 'bytes=0-1' })
    expect([plain.status, plain.headers['content-length'], plain.text]).toEqual([200, '0', ''])
    expect(gunzipSync((await get(`${dir}/empty`, { 'accept-encoding': 'gzip' })).body).length).toBe(0)
  })

  it('[daemon GET /files] sends pseudo-files of unknown size', async () => {
    const version = await get('/proc/version')
    expect(version.text).toMatch(/^Linux version /)
    expect(gunzipSync((await get('/proc/version', { 'accept-encoding': 'gzip' })).body).toString()).toBe(version.text)
    // Larger than the part that is read before the answer begins, and its size is unknown.
    const symbols = await get('/proc/kallsyms')
    expect([symbols.status, symbols.headers['content-length']]).toEqual([200, undefined])
    expect(symbols.body.length).toBeGreaterThan(64 * 1024)
    expect((await get('/dev/null')).text).toBe('')
  })

  it('[daemon GET /files] follows links and takes the name from the path', async () => {
    await writeFile(`${dir}/target.txt`, 'through')
    await symlink('target.txt', `${dir}/文档`)
    const answer = await get(`${dir}/文档`)
    expect([answer.text, answer.headers['content-disposition']]).toEqual(['through', "inline; filename*=utf-8''%E6%96%87%E6%A1%A3"])
  })

  it('[daemon GET /files] cuts the connection when the file is truncated during a download', async () => {
    await writeFile(`${dir}/f`, Buffer.alloc(32 * 1024 * 1024))
    const cut = new Promise<string>((resolve, reject) => {
      request(new URL(`/files?path=${dir}/f`, daemon.url), (incoming) => {
        incoming.once('data', () => {
          incoming.pause()
          truncate(`${dir}/f`, 1_000_000).then(() => incoming.resume(), reject)
        })
        incoming.on('end', () => resolve('complete'))
        incoming.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      })
        .on('error', reject)
        .end()
    })
    expect(await cut).toBe('ECONNRESET')
  })

  it('[daemon GET /files] sends one whole file while it is being replaced by another', async () => {
    const contents = [Buffer.alloc(100_000, 'a'), Buffer.alloc(200_000, 'b')] as const
    await writeFile(`${dir}/f`, contents[0])
    for (const [index, content] of contents.entries()) await writeFile(`${dir}/${index}`, content)
    const script = 'while :; do for i in 0 1; do ln -f $i next && mv next f; done; done'
    const replacing = spawn('/bin/sh', ['-c', script], { cwd: dir, stdio: 'ignore' })
    const answers: Answer[] = []
    for (let turn = 0; turn < 400; turn++) answers.push(await get(`${dir}/f`))
    replacing.kill('SIGKILL')
    await once(replacing, 'exit')
    expect(answers.filter(({ body }) => !contents.some((content) => content.equals(body)))).toEqual([])
  })

  it('[daemon GET /files] closes the file when the client disconnects, compressed or not', async () => {
    await mkdir(`${dir}/open`)
    await writeFile(`${dir}/open/f`, randomBytes(32 * 1024 * 1024))
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      await new Promise<void>((resolve, reject) => {
        const outgoing = request(new URL(`/files?path=${dir}/open/f`, daemon.url), { headers }, (incoming) => {
          incoming.once('data', () => incoming.destroy())
          incoming.on('close', resolve)
          incoming.on('error', () => undefined)
        })
        outgoing.on('error', reject).end()
      })
    }
    await waitForOpenFiles(dir, 0)
  })

  it('[daemon GET /files] stalls for slow readers without delaying other requests', async () => {
    await writeFile(`${dir}/large`, Buffer.alloc(32 * 1024 * 1024))
    await writeFile(`${dir}/small`, 'x')
    const stalled = await Promise.all(
      Array.from({ length: 200 }, async (_item, index) => {
        const headers = index % 10 === 0 ? { 'accept-encoding': 'gzip' } : {}
        const outgoing = request(new URL(`/files?path=${dir}/large`, daemon.url), { headers, agent: new Agent() }).end()
        const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
        return incoming.pause()
      }),
    )
    expect((await get(`${dir}/small`)).text).toBe('x')
    const [, patient, ...others] = stalled
    let received = 0
    for await (const chunk of patient as AsyncIterable<Buffer>) received += chunk.length
    expect(received).toBe(32 * 1024 * 1024)
    for (const incoming of [stalled[0], ...others]) incoming?.destroy()
    await waitForOpenFiles(dir, 0)
  })
})

describe('signed URLs', () => {
  const token = 'b'.repeat(64)
  beforeEach(() => {
    daemon.context.state.accessToken = new Secret(token)
  })
  afterEach(() => {
    daemon.context.state.accessToken = undefined
  })

  it('[daemon GET /files] give access to a file, as the token does (envd.md 18.4, 18.5)', async () => {
    await writeFile(`${dir}/f`, 'secret')
    const access = { operation: 'read', path: `${dir}/f`, username: undefined, expiration: undefined } as const
    const signature = encodeURIComponent(fileSignature(access, token))
    expect((await get(`${dir}/f`, {}, `&signature=${signature}`)).text).toBe('secret')
    expect((await get(`${dir}/f`, { 'x-access-token': token })).text).toBe('secret')
    const refusals = await Promise.all([
      get(`${dir}/f`),
      get(`${dir}/f`, { 'x-access-token': 'wrong' }, `&signature=${signature}`),
      get(`${dir}/f`, {}, `&signature=${signature}&signature_expiration=1`),
      get(`${dir}/f`, {}, `&signature=${signature}&username=root`),
    ])
    expect(refusals.map((answer) => [answer.status, JSON.parse(answer.text).message])).toEqual([
      [401, 'missing signature query parameter'],
      [401, 'access token present in header but does not match'],
      [401, 'invalid signature'],
      [401, 'invalid signature'],
    ])
  })

  it('[daemon GET /files] end at their expiration (envd.md 18.6)', async () => {
    const expired = { operation: 'read', path: '/etc/passwd', username: 'root', expiration: 1n } as const
    const signature = encodeURIComponent(fileSignature(expired, token))
    const answer = await get('/etc/passwd', {}, `&username=root&signature=${signature}&signature_expiration=1`)
    expect(errorOf(answer)).toEqual({ code: 401, message: 'signature is already expired' })
  })
})
