import { appendFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertBuild } from '../../api/test/support/templates.ts'
import { createBench, createSandbox, type Bench } from './support/bench.ts'
import { startCli } from './support/run-cli.ts'

let bench: Bench
beforeAll(async () => (bench = await createBench()))
afterAll(() => bench[Symbol.asyncDispose]())

const T0 = Date.parse('2026-01-01T00:00:00.000Z')
const logLine = (n: number, level = 'info'): string =>
  `${JSON.stringify({ level, time: new Date(T0 + n).toISOString(), name: 'sandyard', msg: `entry ${n}`, port: n })}\n`

describe('sandyard logs', () => {
  it('ends with 3 when there is no log file', async () => {
    const { code, stderr } = await bench.sandyard(['logs'], { env: { SANDYARD_DATA_DIR: '/nonexistent' } })
    expect(code).toBe(3)
    expect(stderr).toContain('docker compose logs')
  })

  it('shows the last lines of the server, of a level, as text and as JSON', async () => {
    const file = join(bench.folder, 'server.log')
    await writeFile(file, `${logLine(1)}${logLine(2, 'warn')}${logLine(3)}`)
    expect((await bench.sandyard(['logs', '-n', '2'])).stdout).toBe(
      '2026-01-01T00:00:00.002Z warn  entry 2 port=2\n2026-01-01T00:00:00.003Z info  entry 3 port=3\n',
    )
    expect((await bench.sandyard(['logs', '--level', 'warn', '--json'])).stdout).toBe(logLine(2, 'warn'))
  })

  it('shows a line of others without its escape sequences, and unchanged with --json', async () => {
    const line = 'a crash \u001B[31mred\u001B[0m\u0007'
    await writeFile(join(bench.folder, 'server.log'), `${line}\n`)
    expect((await bench.sandyard(['logs'])).stdout).toBe('a crash red \n')
    expect((await bench.sandyard(['logs', '--json'])).stdout).toBe(`${line}\n`)
  })

  it('follows the file of the server over its replacement', async () => {
    const file = join(bench.folder, 'server.log')
    await writeFile(file, logLine(1))
    await using cli = startCli({ args: ['logs', '-f', '--json'], env: bench.env, cwd: bench.folder })
    await expect.poll(cli.stdout).toBe(logLine(1))
    await appendFile(file, logLine(2))
    await expect.poll(cli.stdout).toBe(logLine(1) + logLine(2))
    await rename(file, `${file}.1`)
    await writeFile(file, logLine(3))
    await expect.poll(cli.stdout).toBe(logLine(1) + logLine(2) + logLine(3))
  })

  it('shows the log of a sandbox, and follows it to its end', async () => {
    const id = await createSandbox(bench)
    const shown = await bench.sandyard(['logs', id, '--json'])
    const messages = (text: string): string[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message)
    expect(messages(shown.stdout)).toEqual(['Sandbox is starting', 'Sandbox started'])
    await using cli = startCli({ args: ['logs', id, '-f', '--json', '-n', '1'], env: bench.env, cwd: bench.folder })
    await expect.poll(() => messages(cli.stdout() || '{}')).toEqual(['Sandbox started'])
    expect((await bench.server.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    expect(await cli.ended).toBe(0)
    expect(messages(cli.stdout())).toEqual(['Sandbox started', 'Sandbox is ending', 'Sandbox ended'])
    expect(cli.stderr()).toBe(`The sandbox ${id} has ended.\n`)
  })

  it('ends with 3 for what is neither a sandbox nor a build nor a template', async () => {
    for (const id of ['i'.padEnd(21, '0'), 'nothing', '00000000-0000-4000-8000-000000000000']) {
      expect(await bench.sandyard(['logs', id]), id).toMatchObject({ code: 3, stdout: '' })
    }
  })

  it('shows the log of a build by its id and by its template, and follows one that fails', async () => {
    const { database, templateId } = bench.world
    const buildId = await insertBuild(bench.world, templateId, { status: 'building', tags: [] })
    const lines = Array.from({ length: 250 }, (_, at) => ({
      build_id: buildId,
      seq: at + 1,
      // Several lines of one millisecond, over the border of a page.
      time: new Date(T0 + Math.floor(at / 80)),
      level: 'info' as const,
      step: '1',
      message: `line ${at}`,
    }))
    await database.db.insertInto('build_log').values(lines).execute()
    const { stdout } = await bench.sandyard(['logs', buildId, '-n', '1000'])
    const shown = stdout.trimEnd().split('\n')
    expect(shown).toHaveLength(250)
    expect(shown.at(-1)).toBe('2026-01-01T00:00:00.003Z info  line 249 step=1')
    await using cli = startCli({ args: ['logs', buildId, '-f', '-n', '1'], env: bench.env, cwd: bench.folder })
    await expect.poll(cli.stdout).toBe('2026-01-01T00:00:00.003Z info  line 249 step=1\n')
    await database.db
      .insertInto('build_log')
      .values({ build_id: buildId, seq: 251, time: new Date(T0 + 9), level: 'error', step: '2', message: 'no' })
      .execute()
    await expect.poll(cli.stdout).toMatch(/\n2026-01-01T00:00:00.009Z error no step=2\n$/)
    await database.db
      .updateTable('build')
      .set({ status: 'failed', finished_at: new Date(), reason_message: 'exit 1', reason_step: '2' })
      .where('build_id', '=', buildId)
      .execute()
    expect(await cli.ended).toBe(1)
    expect(cli.stderr()).toBe('sandyard: The build failed: exit 1.\n')
  })
})
