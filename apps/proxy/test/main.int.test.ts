import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

function start(environment: Record<string, string>): { child: ChildProcess; stderr: Promise<string> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { ...COMPILED_MODULES, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stderr =
    child.stderr === null
      ? Promise.resolve('')
      : child.stderr
          .setEncoding('utf8')
          .toArray()
          .then((parts) => parts.join(''))
  return { child, stderr }
}

it('serves as a separate process and ends cleanly at SIGTERM', async () => {
  await using database = await createTestDatabase()
  const { child } = start({ DATABASE_URL: database.url, SANDYARD_PROXY_PORT: '0' })
  if (child.stdout === null) throw new Error('unreachable')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { port, address } = JSON.parse(line) as AddressInfo
  expect(address).toBe('127.0.0.1')
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  const unknown = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': '80' } })
  expect(unknown.status).toBe(502)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('serves its metrics on a port of their own, to its own machine only', async () => {
  await using database = await createTestDatabase()
  const { child } = start({ DATABASE_URL: database.url, SANDYARD_PROXY_PORT: '0', SANDYARD_PROXY_METRICS_PORT: '0' })
  if (child.stdout === null) throw new Error('unreachable')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { port, address, msg } = JSON.parse(line) as AddressInfo & { msg: string }
  expect({ address, msg }).toEqual({ address: '127.0.0.1', msg: 'the metrics are served' })
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(page).toContain('sandyard_proxy_open_connections 0')
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it('reports why it cannot start', async () => {
  const unset = start({ SANDYARD_PROXY_PORT: 'x' })
  expect(await once(unset.child, 'exit')).toEqual([78, null])
  const problems = await unset.stderr
  expect(problems).toContain('DATABASE_URL is required')
  expect(problems).toContain('SANDYARD_PROXY_PORT must be a port')

  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  const second = start({ DATABASE_URL: 'postgres://127.0.0.1:1/none', SANDYARD_PROXY_PORT: String(port) })
  expect(await once(second.child, 'exit')).toEqual([1, null])
  expect(await second.stderr).toContain('EADDRINUSE')
  taken.close()
})

it('ends when its parent has died before it was loaded, so that the port stays free', async () => {
  const child = fork(join(import.meta.dirname, '../src/main.ts'), {
    env: { DATABASE_URL: 'postgres://127.0.0.1:1/none', SANDYARD_PROXY_PORT: '0' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Holds the load until the parent has gone.
    execArgv: ['--import', "data:text/javascript,await new Promise((gone) => process.once('disconnect', gone))"],
  })
  child.disconnect()
  try {
    expect(await Promise.race([once(child, 'exit'), setTimeout(20_000, 'still runs')])).toEqual([1, null])
  } finally {
    child.kill('SIGKILL')
  }
})
