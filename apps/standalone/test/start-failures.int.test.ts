import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it, vi } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

// Each test loads the whole server, some of them twice.
vi.setConfig({ testTimeout: 120_000 })

const MAIN = join(import.meta.dirname, '../src/main.ts')
const folder = mkdtempSync(join(tmpdir(), 'standalone-failures-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly output: string
}

async function start(environment: Record<string, string>, nodeArgs: readonly string[] = []): Promise<Ended> {
  const ports = { SANDYARD_API_PORT: '0', SANDYARD_PROXY_PORT: '0', SANDYARD_METRICS_PORT: '0', SANDYARD_EGRESS_HEALTH_PORT: '0' }
  const child = spawn(process.execPath, [...nodeArgs, MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      ...COMPILED_MODULES,
      SANDYARD_DATA_DIR: join(folder, 'data'),
      DOCKER_HOST: `unix://${folder}/none.sock`,
      ...ports,
      ...environment,
    },
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, output: out + err }
}

/** Expects one sentence for the failure and no stack. */
function expectSentence({ code, output }: Ended, sentence: RegExp, exitCode = 1): void {
  expect(output).toMatch(sentence)
  expect(output).not.toMatch(/^\s+at /m)
  expect(output.split('\n').filter((line) => line.startsWith('sandyard: '))).toHaveLength(1)
  expect(code).toBe(exitCode)
}

it('names the setting of a port that is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  expectSentence(await start({ SANDYARD_PROXY_PORT: String(port) }), new RegExp(`The port ${port} for .* is taken: .*SANDYARD_PROXY_PORT`))
  taken.close()
})

it('names the process that locks the data directory, and ignores the lock of an ended one', async () => {
  const dataDir = join(folder, 'locked')
  const lockFile = join(dataDir, 'lock')
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(lockFile, '4242\n')
  expectSentence(await start({ SANDYARD_DATA_DIR: dataDir }), /No Docker engine answers/)
  const holder = spawn('flock', [lockFile, 'sleep', '60'], { stdio: 'ignore', detached: true })
  await pollUntil({ what: 'the lock', timeoutMs: 25_000, everyMs: 20 }, () =>
    spawnSync('flock', ['--nonblock', lockFile, 'true']).status === 0 ? undefined : true,
  )
  expectSentence(await start({ SANDYARD_DATA_DIR: dataDir }), /already runs with the data in .*locked \(process \d+\).*SANDYARD_DATA_DIR/)
  process.kill(-(holder.pid ?? 0), 'SIGKILL')
})

it('asks to free space on a full disk', async (context) => {
  const mount = join(folder, 'small')
  mkdirSync(mount)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount]).status !== 0)
    return context.skip('absent here: the right to mount file systems')
  try {
    expectSentence(await start({ SANDYARD_DATA_DIR: join(mount, 'data') }), /The disk that holds .* is full/)
  } finally {
    spawnSync('umount', [mount])
  }
})

it.each<[string, Record<string, string>, RegExp, number]>([
  ['an absent engine', {}, /No Docker engine answers at unix:.*none\.sock .*DOCKER_HOST/, 1],
  ['invalid settings', { SANDYARD_API_PORT: 'x', SANDYARD_PROXY_PORT: '99999' }, /SANDYARD_API_PORT[^]*SANDYARD_PROXY_PORT/, 78],
  ['a data directory that is a file', { SANDYARD_DATA_DIR: MAIN }, /main\.ts/, 1],
  ['an address of another machine', { SANDYARD_BIND: '192.0.2.1' }, /192\.0\.2\.1.*SANDYARD_BIND/, 1],
])('reports in one sentence what to do about %s', async (_, environment, sentence, exitCode) => {
  expectSentence(await start(environment), sentence, exitCode)
})

it.each(['darwin', 'win32'])('names docker compose on %s', async (platform) => {
  const disguise = `data:text/javascript,Object.defineProperty(process,"platform",{value:"${platform}"})`
  expectSentence(await start({}, ['--import', disguise]), /needs Linux.*docker compose up/)
})
