import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { createBench, createSandbox } from './support/bench.ts'
import { MAIN, runCli, type CliResult } from './support/run-cli.ts'

const KEY = `e2b_${'0a'.repeat(20)}`

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'sandyard-cli-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Without a server. */
function sandyard(args: readonly string[], env: Record<string, string>, interrupt?: Promise<void>): Promise<CliResult> {
  const settings = { SANDYARD_DATA_DIR: join(folder, 'nothing'), E2B_API_KEY: KEY, ...env }
  return runCli({ args, env: settings, cwd: folder, ...(interrupt && { interrupt }) })
}

it('prints help on stdout and ends with 0', async () => {
  const { code, stdout, stderr } = await sandyard(['--help'], {})
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Usage: sandyard[\s\S]+\bstatus\b[\s\S]+\bexec\b/)
})

it('ends with 5, one sentence and no stack trace when the server is not reachable', async () => {
  const url = `http://127.0.0.1:${await findFreePort()}`
  for (const args of [['ls'], ['exec', 'i'.padEnd(21, '0'), '--', 'true']]) {
    expect(await sandyard(args, { E2B_API_URL: url }), args.join(' ')).toEqual({
      code: 5,
      stdout: '',
      stderr: `sandyard: The server at ${url} is not reachable (ECONNREFUSED): is it running, and is E2B_API_URL right?\n`,
    })
  }
})

it.each([
  [['ls', '--nonsense'], {}, 2],
  [['logs'], {}, 3],
  [['ls'], { E2B_API_KEY: '' }, 4],
])('ends with its exit code for %j', async (args, env, code) => {
  const result = await sandyard(args, env)
  expect(result).toMatchObject({ code, stdout: '' })
  expect(result.stderr).toMatch(/^sandyard: /)
})

it('ends with 130 after SIGINT, also while a server does not answer', async () => {
  const silent = createServer()
  const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const { code, stderr } = await sandyard(['ls'], { E2B_API_URL: url }, connected)
  silent.close()
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'sandyard: Interrupted.\n' })
})

it('completes in bash: commands, options and live ids', async () => {
  await using bench = await createBench()
  const id = await createSandbox(bench)
  await writeFile(join(bench.folder, 'sandyard'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
  // What readline does for a word at the cursor.
  const script = `
    source <(sandyard completion bash)
    complete() { COMP_WORDS=(sandyard "$@"); COMP_CWORD=$#; _sandyard; echo "\${COMPREPLY[*]}"; }
    complete sta; complete ls --sta; complete info ${id.slice(0, 3)}; complete resume ''`
  const bash = promisify(execFile)('bash', ['-c', script], {
    cwd: bench.folder,
    env: { ...bench.env, PATH: `${bench.folder}:/usr/bin:/bin` },
  })
  expect((await bash).stdout).toBe(`status\n--state\n${id}\n\n`)
})

it('up ends with 1 and the sentence of a server that cannot start, and leaves none behind', async () => {
  const dataDir = join(folder, 'up')
  const up = await sandyard(['up'], { SANDYARD_DATA_DIR: dataDir, SANDYARD_LOG_LEVEL: 'loud', PATH: process.env['PATH'] ?? '' })
  expect(up).toMatchObject({ code: 1, stdout: '' })
  expect(up.stderr).toContain('SANDYARD_LOG_LEVEL is one of trace, debug')
  expect((await sandyard(['down'], { SANDYARD_DATA_DIR: dataDir })).stderr).toBe(`No server runs with the data in ${dataDir}.\n`)
})
