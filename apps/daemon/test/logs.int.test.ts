import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, describe, expect, it } from 'vitest'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

interface Entry {
  readonly n: number
  readonly at: number
  readonly level: string
  readonly message: string
  readonly fields: Record<string, string | number>
}

interface Logs {
  readonly boot: string
  readonly entries: Entry[]
}

const scratch = await createScratchDirectory()
afterAll(() => scratch[Symbol.asyncDispose]())

const read = async ({ url }: TestDaemon, query = ''): Promise<Logs> => (await fetch(`${url}/logs${query}`)).json() as Promise<Logs>

/** Runs a command to its end. */
async function run(daemon: TestDaemon, script: string, envs: Record<string, string> = {}): Promise<void> {
  const events = daemon.process.start({ process: { cmd: '/bin/sh', args: ['-c', script], envs, cwd: '/' }, stdin: false })
  for await (const _event of events) continue
}

describe('GET /logs', () => {
  it('returns starts and ends of processes, without variables and output', async () => {
    await using daemon = await startDaemon()
    await run(daemon, 'echo "$SECRET output"; exit 3', { SECRET: 'hidden' })
    const { entries } = await read(daemon)
    expect(entries.map(({ n, level, message, fields }) => ({ n, level, message, fields }))).toEqual([
      {
        n: 1,
        level: 'info',
        message: 'Process started',
        fields: { logger: 'process', pid: expect.any(Number), user: 'root', cmd: '/bin/sh -c echo "$SECRET output"; exit 3' },
      },
      {
        n: 2,
        level: 'warn',
        message: 'Process ended',
        fields: { logger: 'process', pid: entries[0]?.fields['pid'], exitCode: 3, status: 'exit status 3', durationMs: expect.any(Number) },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain('hidden')
  })

  it('has the metrics in the same answer if they are asked for', async () => {
    await using daemon = await startDaemon()
    const metrics = (await (await fetch(`${daemon.url}/metrics`)).json()) as object
    const { metrics: same } = (await read(daemon, '?metrics=true')) as Logs & { readonly metrics?: object }
    expect(Object.keys(same ?? {})).toEqual(Object.keys(metrics))
    expect(await read(daemon, '')).not.toHaveProperty('metrics')
  })

  it('returns what follows a number of the same run, and everything for another run', async () => {
    await using daemon = await startDaemon()
    await run(daemon, 'true')
    const { boot } = await read(daemon)
    const numbers = async (query: string) => (await read(daemon, query)).entries.map(({ n }) => n)
    expect(await numbers(`?boot=${boot}&after=1`)).toEqual([2])
    expect(await numbers(`?boot=${boot}&after=2`)).toEqual([])
    expect(await numbers('?boot=other&after=2')).toEqual([1, 2])
    expect(await numbers(`?boot=${boot}&after=x`)).toEqual([1, 2])
  })

  it('keeps the newest 1,000 entries and 256 KiB', async () => {
    await using daemon = await startDaemon()
    const { logs } = daemon.context
    for (let index = 0; index < 1500; index += 1) logs.append({ level: 'info', message: 'small', fields: {} })
    expect((await read(daemon)).entries.map(({ n }) => n)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 501))
    for (let index = 0; index < 1000; index += 1) logs.append({ level: 'info', message: 'x'.repeat(1000), fields: {} })
    const { entries } = await read(daemon)
    expect(JSON.stringify(entries).length).toBeLessThanOrEqual(256 * 1024 + entries.length + 2)
    expect(entries.at(-1)?.n).toBe(2500)
  })

  it('needs the access token', async () => {
    await using daemon = await startDaemon()
    await fetch(`${daemon.url}/init`, { method: 'POST', body: JSON.stringify({ accessToken: 'token' }) })
    expect((await fetch(`${daemon.url}/logs`)).status).toBe(401)
    expect((await fetch(`${daemon.url}/logs`, { headers: { 'x-access-token': 'token' } })).status).toBe(200)
  })

  it.each([
    ['v2', 'memory.events', 'low 0\noom 2\noom_kill '],
    ['v1', 'memory/memory.oom_control', 'oom_kill_disable 0\nunder_oom 0\noom_kill '],
  ])('reports each process that the kernel killed for lack of memory once (control groups %s)', async (version, file, text) => {
    const folder = join(scratch.path, version)
    await mkdir(join(folder, 'memory'), { recursive: true })
    await using daemon = await startDaemon({ SANDYARD_CONTROL_GROUPS: folder })
    const killed = async (): Promise<unknown[]> => (await read(daemon)).entries.map(({ level, fields }) => [level, fields['killed']])
    expect(await killed()).toEqual([])
    await writeFile(join(folder, file), `${text}1\n`)
    expect(await killed()).toEqual([['error', 1]])
    expect(await killed()).toEqual([['error', 1]])
    await writeFile(join(folder, file), `${text}3\n`)
    expect(await killed()).toEqual([
      ['error', 1],
      ['error', 2],
    ])
  })

  it('cuts off a long command and logs a signal', async () => {
    await using daemon = await startDaemon()
    void run(daemon, `sleep 60 # ${'x'.repeat(2000)}`).catch(() => undefined)
    await pollUntil({ what: 'the process', timeoutMs: 20_000, everyMs: 10 }, () => daemon.context.processes.list()[0])
    daemon.context.processes.list()[0]?.signal('SIGKILL')
    const entries = await pollUntil({ what: 'the end', timeoutMs: 20_000, everyMs: 10 }, async () => {
      const { entries } = await read(daemon)
      return entries.length === 2 ? entries : undefined
    })
    expect(String(entries[0]?.fields['cmd'])).toHaveLength(512)
    expect(entries[1]).toMatchObject({ level: 'warn', fields: { exitCode: -1, status: 'signal: killed' } })
  })
})
