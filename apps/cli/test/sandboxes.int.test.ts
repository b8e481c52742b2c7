import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBench, createSandbox, type Bench } from './support/bench.ts'

const UNKNOWN = 'i'.padEnd(21, '0')

let bench: Bench
beforeAll(async () => (bench = await createBench()))
afterAll(() => bench[Symbol.asyncDispose]())

const list = async (...options: string[]) =>
  JSON.parse((await bench.sandyard(['ls', '--json', ...options])).stdout) as { sandboxID: string; state: string }[]

describe('sandyard ls, info, kill, pause, resume', () => {
  it('lists sandboxes as a table, as JSON and as ids, with filters', async () => {
    const one = await createSandbox(bench, { metadata: { run: '1', note: 'a b&c' } })
    const two = await createSandbox(bench, { metadata: { run: '2' } })
    const { code, stdout, stderr } = await bench.sandyard(['ls'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^STATE +SANDBOX +TEMPLATE +CPU +MEMORY +STARTED +ENDS IN +METADATA$/)
    expect(rows.find((row) => row.includes(one))).toMatch(/^running .* base +2 +1024 MB .* run=1 note=a b&c$/)
    expect(rows.some((row) => row.includes(two))).toBe(true)
    expect(await list('--metadata', 'note=a b&c')).toMatchObject([{ sandboxID: one, state: 'running' }])
    expect((await bench.sandyard(['ls', '--quiet', '--metadata', 'run=2'])).stdout).toBe(`${two}\n`)
    const none = await bench.sandyard(['ls', '--template', 'nothing'])
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no sandboxes.\n' })
  })

  it('shows one sandbox, and ends with 3 for an unknown one', async () => {
    const id = await createSandbox(bench)
    const { stdout } = await bench.sandyard(['info', id])
    expect(stdout).toMatch(new RegExp(`^sandbox +${id}\nstate +running\ntemplate +base \\(`))
    expect(JSON.parse((await bench.sandyard(['info', id, '--json'])).stdout)).toMatchObject({ sandboxID: id, state: 'running' })
    const unknown = await bench.sandyard(['info', UNKNOWN])
    expect(unknown).toMatchObject({ code: 3, stdout: '' })
    expect(unknown.stderr).toMatch(new RegExp(`^sandyard: .*${UNKNOWN}.*\\.\n$`))
  })

  it('pauses and resumes, and shows what a paused one keeps', async () => {
    const id = await createSandbox(bench)
    expect(await bench.sandyard(['pause', id])).toEqual({ code: 0, stdout: `${id} paused\n`, stderr: '' })
    expect((await bench.sandyard(['info', id])).stdout).toContain('paused (keeps memory and files)')
    expect(await bench.sandyard(['resume', id, '--timeout', '900'])).toEqual({ code: 0, stdout: `${id} running\n`, stderr: '' })
    const [found] = (await list('--state', 'running')).filter(({ sandboxID }) => sandboxID === id)
    expect(found).toMatchObject({ state: 'running' })
  })

  it('kills those that exist and ends with 3 when one does not', async () => {
    const [one, two] = [await createSandbox(bench), await createSandbox(bench)]
    const { code, stdout, stderr } = await bench.sandyard(['kill', one, UNKNOWN, two, '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toEqual([
      { sandboxID: one, done: true },
      { sandboxID: UNKNOWN, done: false, error: expect.stringContaining(UNKNOWN) },
      { sandboxID: two, done: true },
    ])
    expect(stderr).toContain(`sandyard: ${UNKNOWN}: `)
    expect((await list()).filter(({ sandboxID }) => [one, two].includes(sandboxID))).toEqual([])
  })

  it('kills all that match only after a yes', async () => {
    const [mine, other] = [await createSandbox(bench, { metadata: { job: 'mine' } }), await createSandbox(bench)]
    const refused = await bench.sandyard(['kill', '--all', '--metadata', 'job=mine'], { input: 'y\n' })
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toContain('Kill 1 sandboxes with their files? There is no terminal to ask: repeat it with --yes.')
    expect((await list()).map(({ sandboxID }) => sandboxID)).toContain(mine)
    expect((await bench.sandyard(['kill', '--all', '--metadata', 'job=mine', '--yes'])).stdout).toBe(`${mine} killed\n`)
    expect((await list()).map(({ sandboxID }) => sandboxID)).toContain(other)
  })

  it('ends with 4 for a key that it refuses', async () => {
    const { code, stderr } = await bench.sandyard(['ls'], { env: { E2B_API_KEY: `e2b_${'0'.repeat(40)}` } })
    expect(code).toBe(4)
    expect(stderr).toBe(`sandyard: The server at ${bench.apiUrl} refuses the API key of E2B_API_KEY.\n`)
  })
})

describe('sandyard status', () => {
  it('shows a server that is ready', async () => {
    const { code, stdout, stderr } = await bench.sandyard(['status'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`${bench.apiUrl}: ready\n`)
    expect(stdout).toMatch(/^database +answers$/m)
    const status = JSON.parse((await bench.sandyard(['status', '--json'])).stdout) as Record<string, unknown>
    expect(status).toMatchObject({ server: { reachable: true, ready: true, engine: true }, templates: 1, problems: [] })
  })

  it('shows the last backup that the command has noted', async () => {
    const note = { createdAt: '2026-01-02T03:04:05.000Z', file: '/backups/x.tar' }
    await bench.world.database.db
      .insertInto('server_setting')
      .values({ name: 'last_backup', value: JSON.stringify({ ...note, sizeBytes: 1 }) })
      .execute()
    const { stdout } = await bench.sandyard(['status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ lastBackup: note })
    await writeFile(join(bench.folder, 'last-backup.json'), JSON.stringify({ ...note, file: '/elsewhere' }))
    const withoutDatabase = await bench.sandyard(['status', '--json'], { env: { DATABASE_URL: '' } })
    expect(JSON.parse(withoutDatabase.stdout)).toMatchObject({ server: { ready: true }, lastBackup: { file: '/elsewhere' } })
  })

  it('ends with 5 when the engine does not answer the server, and still shows the rest', async () => {
    await using other = await createBench()
    other.server.runtime.faults.failBefore('ping')
    const { code, stdout } = await other.sandyard(['status', '--json'])
    expect(code).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({
      server: { reachable: true, healthy: true, ready: false, database: true, engine: false },
      sandboxes: { running: 0, paused: 0 },
    })
  })

  it('ends with 5 for a server that is not there, and says so as data and in words', async () => {
    const { code, stdout, stderr } = await bench.sandyard(['status', '--json'], { env: { E2B_API_URL: 'http://127.0.0.1:1' } })
    expect(code).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({ server: { reachable: false, ready: false } })
    expect(stderr).toContain('is not reachable')
  })
})
