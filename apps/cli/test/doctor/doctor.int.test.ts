import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EGRESS_PROCESS_SETTINGS } from '@sandyard/egress/config'
import { PROXY_PROCESS_SETTINGS } from '@sandyard/proxy/config'
import { GROUPS } from '../../src/doctor/all-checks.ts'
import { OTHER_PROGRAMS } from '../../src/doctor/facts/doctor-settings.ts'
import { openTerminal } from '../support/open-terminal.ts'
import { runHere } from '../support/run-here.ts'

/** dashboard-and-cli.md 6.1 */
const IDS =
  'E1 E2 E3 E4 E5 E6 E7 E8 S1 S2 S3 S4 S5 K1 K2 K3 K4 K5 K6 K7 K8 M1 M2 N1 N2 N3 N4 N5 N6 N7 T1 T2 T3 D1 D2 D3 D4 R1 R2 R3 R4 R5'.split(' ')

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'sandyard-cli-doctor-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Without an engine, a server and a database. */
const environment = (): Record<string, string> => ({
  DOCKER_HOST: 'unix:///nonexistent/engine.sock',
  SANDYARD_DATA_DIR: join(folder, 'nothing'),
  SANDYARD_API_PORT: '0',
  SANDYARD_METRICS_PORT: '0',
  SANDYARD_PROXY_PORT: '0',
  SANDYARD_EGRESS_HEALTH_PORT: '0',
})

const doctor = (args: readonly string[], env: Record<string, string> = {}): ReturnType<typeof runHere> =>
  runHere({ args: ['doctor', ...args], env: { ...environment(), ...env }, cwd: folder })

interface Report {
  readonly ok: boolean
  readonly counts: Record<string, number>
  readonly checks: readonly { readonly id: string; readonly level: string; readonly todo: string | null; readonly why: string }[]
}

describe('sandyard doctor', () => {
  it('has every check of the reference, in its order', () => {
    expect(GROUPS.flatMap(({ checks }) => checks.map(({ id }) => id))).toEqual(IDS)
  })

  it('has a test for every check', () => {
    const tests = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts') && name !== 'doctor.int.test.ts')
    const text = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n')
    expect(IDS.filter((id) => !text.includes(`'${id}'`))).toEqual([])
  })

  it('has the defaults of the settings of the proxy and the egress gateway', () => {
    const facts = ({ env, fallback }: { env: string; fallback: unknown }): unknown => ({ env, fallback })
    const { egressHealthPort, egressConnections, proxyConnections } = OTHER_PROGRAMS
    expect([egressHealthPort, egressConnections, proxyConnections].map(facts)).toEqual(
      [EGRESS_PROCESS_SETTINGS.healthPort, EGRESS_PROCESS_SETTINGS.databaseConnections, PROXY_PROCESS_SETTINGS.databaseConnections].map(
        facts,
      ),
    )
  })

  it('prints all checks as one document with --json, and ends with 7 when one failed', async () => {
    const { code, stdout, stderr } = await doctor(['--json'])
    const report = JSON.parse(stdout) as Report
    expect({ code, stderr, ok: report.ok }).toEqual({ code: 7, stderr: '', ok: false })
    expect(report.checks.map(({ id }) => id)).toEqual(IDS)
    expect(report.checks[0]).toMatchObject({ id: 'E1', level: 'fail', todo: expect.stringContaining('DOCKER_HOST') as string })
    expect(report.checks.every(({ level, todo }) => (todo === null) === ['ok', 'skipped'].includes(level))).toBe(true)
    expect(Object.values(report.counts).reduce((sum, count) => sum + count, 0)).toBe(IDS.length)
  })

  it('runs only the named checks, and ends with 0 without a failure', async () => {
    const { code, stdout } = await doctor(['--only', 't3, R4', '--json'])
    const report = JSON.parse(stdout) as Report
    expect({ code, ids: report.checks.map(({ id }) => id) }).toEqual({ code: 0, ids: ['T3', 'R4'] })
  })

  it('tells people what was found, why it matters and what to do', async () => {
    const { code, stdout } = await doctor(['--only', 'E1,E2'])
    expect({ code, stdout }).toEqual({
      code: 7,
      stdout: [
        'Engine',
        '  E1  fail  Engine answers: unix:///nonexistent/engine.sock: there is no socket (connect ENOENT /nonexistent/engine.sock)',
        '          why: Every sandbox is a container of this engine: without it nothing starts, and most other checks are skipped.',
        '          do:  Start the engine (systemctl start docker), or set DOCKER_HOST to where it listens.',
        '  E2  skipped  Engine version: the engine does not answer or is too old (E1, E2)',
        '',
        '1 fail, 1 skipped',
        '',
      ].join('\n'),
    })
  })

  it('refuses unknown ids and wrong settings with 2', async () => {
    const unknown = await doctor(['--only', 'E1,X9'])
    expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/not "X9"\.\n$/) as string })
    const wrong = await doctor(['--only', 'E1'], { SANDYARD_PIDS_LIMIT: 'many' })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('SANDYARD_PIDS_LIMIT') as string })
  })

  it('prints the commands of --fix without a terminal, and runs none', async () => {
    const { stdout, stderr } = await doctor(['--only', 'K4', '--fix'], { SANDYARD_MAX_SANDBOXES: '10000' })
    expect(stdout).toContain('run: printf')
    expect(stderr).toMatch(/^K4: printf 'kernel\.pty\.max = \d+\\n' > .*\nThere is no terminal to ask: nothing was run\.\n$/)
  })

  it('runs a command of --fix at a terminal after a yes only', async () => {
    const dataDir = await mkdtemp(join(folder, 'open-'))
    const mode = (): string => (statSync(dataDir).mode & 0o777).toString(8)
    chmodSync(dataDir, 0o755)
    const env = { ...environment(), SANDYARD_DATA_DIR: dataDir }
    const fix = async (answer: string): Promise<number> => {
      using cli = openTerminal({ args: ['doctor', '--only', 'D3', '--fix'], env, cwd: folder })
      await cli.sees('run it? [y/N]')
      cli.terminal.write(`${answer}\r`)
      return await cli.ended
    }
    expect([await fix(''), mode()]).toEqual([7, '755'])
    expect([await fix('y'), mode()]).toEqual([7, '700'])
  })
})
