import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'
import { afterEach, expect, it } from 'vitest'
import { envelope, stream } from './support/raw-rpc.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const runDirectory = mkdtempSync(join(tmpdir(), 'daemon-run-'))
const started: ChildProcess[] = []

afterEach(() => {
  for (const daemon of started.splice(0)) daemon.kill('SIGKILL')
})

async function startMain(environment: Record<string, string>) {
  const port = await findFreePort()
  const env = { ...COMPILED_MODULES, PATH: process.env['PATH'], SANDYARD_RUN_DIRECTORY: join(runDirectory, 'e2b'), ...environment }
  const daemon = spawn(process.execPath, [MAIN, '-isnotfc', '-host', '127.0.0.1', '-port', String(port)], { stdio: 'inherit', env })
  started.push(daemon)
  const url = `http://127.0.0.1:${port}`
  await pollUntil({ what: 'the daemon', timeoutMs: 20_000, everyMs: 20 }, () =>
    fetch(`${url}/health`).then(
      () => true,
      () => undefined,
    ),
  )
  return { url, daemon }
}

it('prints its version and commit, and refuses unknown flags', () => {
  const run = (...args: string[]) => execFileSync(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }).toString()
  expect([run('-version'), run('--commit')]).toEqual(['0.6.13\n', '\n'])
  expect(() => run('-nope')).toThrow('flag provided but not defined: -nope')
})

it('writes the resolvers that it is given', async () => {
  const systemRoot = mkdtempSync(join(tmpdir(), 'daemon-root-'))
  mkdirSync(join(systemRoot, 'etc'))
  writeFileSync(join(systemRoot, 'etc/resolv.conf'), 'nameserver 127.0.0.11\n')
  await startMain({ SANDYARD_RESOLVERS: '192.0.2.1,192.0.2.2', SANDYARD_SYSTEM_ROOT: systemRoot })
  const written = () => readFileSync(join(systemRoot, 'etc/resolv.conf'), 'utf8')
  await expect.poll(written).toBe('nameserver 192.0.2.1\nnameserver 192.0.2.2\n')
})

it('marks the sandbox for programs, and hides its own environment from them', async () => {
  const { url } = await startMain({})
  const file = (name: string) => pollUntil({ what: name, timeoutMs: 20_000, everyMs: 10 }, () => read(join(runDirectory, 'e2b', name)))
  expect(await file('.E2B_SANDBOX')).toBe('true')
  expect(statSync(join(runDirectory, 'e2b/.E2B_SANDBOX')).mode & 0o777).toBe(0o444)
  const { envelopes } = await stream(url, 'process.Process/Start', envelope({ process: { cmd: '/usr/bin/env', cwd: '/' }, stdin: false }))
  const messages = envelopes.map(({ message }) => message as { event: { data: { stdout: string } } })
  const output = Buffer.from(messages[1]?.event.data.stdout ?? '', 'base64').toString()
  expect(output).toContain('E2B_SANDBOX=true\n')
  expect(output).not.toContain('SANDYARD')
})

it('ends its streams with an envelope and exits at SIGTERM', async () => {
  const { url, daemon } = await startMain({})
  const open = stream(url, 'process.Process/Start', envelope({ process: { cmd: 'sleep', args: ['60'], cwd: '/' } }))
  const list = () =>
    fetch(`${url}/process.Process/List`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
      body: '{}',
    })
  const [live] = await pollUntil({ what: 'the process', timeoutMs: 20_000, everyMs: 20 }, async () => {
    const { processes } = (await (await list()).json()) as { processes: { pid: number }[] }
    return processes.length > 0 ? processes : undefined
  })
  const exited = once(daemon, 'exit')
  daemon.kill('SIGTERM')
  const { envelopes } = await open
  expect(envelopes.at(-1)).toEqual({ flags: 2, message: { error: { code: 'unavailable', message: 'the sandbox is shutting down' } } })
  expect(await exited).toEqual([0, null])
  if (live !== undefined) process.kill(live.pid, 'SIGKILL')
})

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8') || undefined
  } catch {
    return undefined
  }
}
