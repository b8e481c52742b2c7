import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { beforeEach, describe, expect, it } from 'vitest'
import { NO_MOUNT } from './support/absences.ts'
import { startDaemonProcess } from './support/daemon-process.ts'
import { refusal, useDaemon, waitForOpenFiles } from './support/daemon-fixture.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import type { TestDaemon } from './support/test-daemon.ts'
import { filePart, putFile } from './support/upload.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string
beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

function put(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<Answer> {
  return putFile(daemon.url, path, { body, headers })
}

describe('an upload that cannot be finished', () => {
  it('[daemon POST /files] is answered at once if its gzip is corrupt and the client waits', async () => {
    const broken = gzipSync('x'.repeat(100))
    broken.fill(0xff, 10, 20)
    const outgoing = request(new URL(`/files?path=${dir}/f`, daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip', 'content-length': '1000' },
    })
    outgoing.on('error', () => undefined)
    outgoing.write(broken)
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual([
      500,
      { code: 500, message: 'error writing file: flate: corrupt input' },
    ])
    outgoing.destroy()
    await waitForOpenFiles(dir, 0)
  })

  it('[daemon POST /files] does not delay other requests while its client pauses, and leaves no open file', async () => {
    const paused = Array.from({ length: 200 }, (_item, index) => {
      const outgoing = request(new URL(`/files?path=${dir}/${index}`, daemon.url), {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'content-length': '200000' },
        agent: new Agent(),
      })
      outgoing.on('error', () => undefined)
      outgoing.write(Buffer.alloc(100_000))
      return outgoing
    })
    await waitForOpenFiles(dir, paused.length)
    expect((await put(`${dir}/other`, 'x')).status).toBe(200)
    paused[0]?.end(Buffer.alloc(100_000))
    await waitForOpenFiles(dir, paused.length - 1)
    expect((await stat(`${dir}/0`)).size).toBe(200_000)
    for (const outgoing of paused) outgoing.destroy()
    await waitForOpenFiles(dir, 0)
    expect((await stat(`${dir}/199`)).size).toBe(100_000)
  })

  it('[daemon POST /files] reports a full disk and a lack of inodes (envd.md 18.20)', async (context) => {
    const disk = `${dir}/disk`
    await mkdir(disk)
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=256k,nr_inodes=3', 'tmpfs', disk]).then(
      () => true,
      () => false,
    )
    if (!mounted) return context.skip(NO_MOUNT)
    try {
      const body = 'x'.repeat(400_000)
      expect(refusal(await put(`${disk}/big`, body, { 'content-length': '400000' }))).toEqual([
        507,
        'attempted to write 400000 bytes: not enough disk space available',
      ])
      expect(refusal(await put(`${disk}/big`, body, { 'transfer-encoding': 'chunked' }))).toEqual([507, 'not enough disk space available'])
      expect((await stat(`${disk}/big`)).size).toBeGreaterThan(0)
      await put(`${disk}/big`, '')
      await put(`${disk}/second`, '')
      expect(refusal(await put(`${disk}/third`, ''))).toEqual([
        507,
        `not enough inodes available: open ${disk}/third: no space left on device`,
      ])
    } finally {
      await run('umount', [disk])
    }
  })

  it('[daemon POST /files] is answered while the client still sends, and the connection goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (path: string, body: Buffer) =>
      exchange(daemon.url, { method: 'POST', path, headers: { 'content-type': 'application/octet-stream' }, body, agent })
    const large = Buffer.alloc(8 * 1024 * 1024)
    expect((await send('/files?username=ghost', large)).status).toBe(401)
    expect((await send(`/files?path=${dir}`, large)).status).toBe(400)
    const broken = await exchange(daemon.url, {
      method: 'POST',
      path: '/files',
      headers: { 'content-type': 'multipart/form-data; boundary=XX' },
      body: Buffer.concat([Buffer.from(filePart(dir, 'x')), large]),
      agent,
    })
    expect(refusal(broken)).toEqual([400, `path is a directory: ${dir}`])
    expect((await send(`/files?path=${dir}/fine`, Buffer.from('x'))).status).toBe(200)
    agent.destroy()
  })

  it('[daemon POST /files] keeps the bytes that arrived before a disconnect, and closes the file', async () => {
    const outgoing = request(new URL(`/files?path=${dir}/partial`, daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': '1000000' },
    })
    outgoing.on('error', () => undefined)
    outgoing.write('arrived')
    await pollUntil({ what: 'the first bytes', timeoutMs: 20_000, everyMs: 20 }, async () =>
      (await readFile(`${dir}/partial`, 'utf8').catch(() => '')) === 'arrived' ? true : undefined,
    )
    outgoing.destroy()
    await waitForOpenFiles(dir, 0)
    expect(await readFile(`${dir}/partial`, 'utf8')).toBe('arrived')
  })
})

describe('a file operation that fails unexpectedly', () => {
  it('[daemon GET /files] is logged once, with its errno and without the path', async () => {
    await using daemon = await startDaemonProcess(`${dir}/run`, { launcher: logTo(`${dir}/log`) })
    // An error that the path explains is the client's error.
    expect((await exchange(daemon.url, { path: `/files?path=/etc/passwd/x&username=root` })).status).toBe(500)
    // No process maps its first page, so the read fails with EIO.
    const path = `/proc/${daemon.pid}/mem`
    expect(refusal(await exchange(daemon.url, { path: `/files?path=${path}&username=root` }))).toEqual([
      500,
      `error opening file '${path}': open ${path}: input/output error`,
    ])
    const log = await readLog()
    expect(linesOf(log)).toEqual([
      expect.objectContaining({ msg: 'file operation failed', operation: 'GET /files', call: 'read', errno: 'EIO', pathKind: 'open file' }),
    ])
    expect(log).not.toContain(path)
  })

  it('[filesystem.Filesystem/Remove] is logged once, with its errno and without the path', async () => {
    await using logged = await startDaemonProcess(`${dir}/run`, { launcher: logTo(`${dir}/log`) })
    const remove = async (path: string): Promise<[number, string]> => {
      const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1', authorization: `Basic ${btoa('root:')}` }
      const answer = await exchange(logged.url, {
        path: '/filesystem.Filesystem/Remove',
        method: 'POST',
        headers,
        body: JSON.stringify({ path }),
      })
      return [answer.status, answer.text]
    }
    expect(await remove('/etc/passwd/x')).toEqual([500, expect.stringContaining('not a directory')])
    // Nobody can remove files of processes.
    const path = `/proc/${logged.pid}/status`
    expect(await remove(path)).toEqual([500, expect.stringContaining('operation not permitted')])
    const log = await readLog()
    const operation = 'filesystem.Filesystem/Remove'
    expect(linesOf(log)).toEqual([expect.objectContaining({ msg: 'file operation failed', operation, errno: 'EPERM' })])
    expect(log).not.toContain(path)
  })

  const logTo = (file: string): string[] => ['/bin/sh', '-c', `SANDYARD_LOG_LEVEL=info exec "$@" 2>${file}`, 'sh']

  function readLog(): Promise<string> {
    return pollUntil({ what: 'a line of the log', timeoutMs: 20_000, everyMs: 20 }, async () => {
      const log = await readFile(`${dir}/log`, 'utf8')
      return log.endsWith('\n') ? log : undefined
    })
  }

  function linesOf(log: string): object[] {
    const lines = log.trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as object)
  }
})
