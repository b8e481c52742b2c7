import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { EGRESS_GATEWAY_SETTING } from '@sandyard/db/egress-gateway-setting'
import { readHostAddresses } from '@sandyard/db/host-addresses'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { createPooledTestDatabase } from '@sandyard/test-kit/pgbouncer'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

interface Line {
  readonly msg: string
  readonly port?: number
  readonly host?: string
  readonly tcpPort?: number
  readonly dnsPort?: number
}

interface Running extends Disposable {
  readonly child: ChildProcess
  readonly lines: Line[]
  readonly stderr: () => string
}

function start(environment: Record<string, string>): Running {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { ...COMPILED_MODULES, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Line[] = []
  let stderr = ''
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return { child, lines, stderr: () => stderr, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

async function said({ lines }: Running, msg: string, count = 1): Promise<Line> {
  return pollUntil({ what: msg, timeoutMs: 30_000, everyMs: 20 }, () => lines.filter((line) => line.msg === msg)[count - 1])
}

it('answers its health check, listens on the address of the setting, and on the next one when it changes', async () => {
  await using home = await createPooledTestDatabase()
  await using database = new Database({ url: home.directUrl, applicationName: 'test', log: silentLogger() })
  const [tcpPort, dnsPort] = [await findFreePort(), await findFreePort()]
  using egress = start({
    DATABASE_URL: home.url,
    DATABASE_DIRECT_URL: home.directUrl,
    SANDYARD_EGRESS_HEALTH_PORT: '0',
    SANDYARD_EGRESS_HEALTH_BIND: '127.0.0.1,127.0.7.9',
    SANDYARD_EGRESS_TCP_PORT: String(tcpPort),
    SANDYARD_EGRESS_DNS_PORT: String(dnsPort),
  })
  const { port } = await said(egress, 'listening')
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(page).toContain('sandyard_egress_open_connections 0')
  expect(page).toContain('sandyard_egress_process_start_time_seconds ')
  expect((await fetch(`http://127.0.7.9:${port}/metrics`)).status).toBe(200)

  // The API, in a network of its own, learns the addresses of this host.
  const outer = Object.values(networkInterfaces()).flatMap((found) =>
    (found ?? []).flatMap(({ internal, family, address }) => (internal || family !== 'IPv4' ? [] : [address])),
  )
  const told = { what: 'the addresses of the host', timeoutMs: 30_000, everyMs: 20 }
  const addresses = await pollUntil(told, async () => {
    const found = await readHostAddresses(database.db)
    return found.length > 0 ? found : undefined
  })
  expect(outer.filter((address) => !addresses.includes(address) && !address.startsWith('169.254.'))).toEqual([])
  expect(addresses).not.toContain('127.0.0.1')

  await database.db.insertInto('server_setting').values({ name: EGRESS_GATEWAY_SETTING, value: '127.0.7.1' }).execute()
  expect(await said(egress, 'the egress gateway listens')).toMatchObject({ host: '127.0.7.1', tcpPort, dnsPort })
  await database.db.updateTable('server_setting').set({ value: '127.0.7.2' }).where('name', '=', EGRESS_GATEWAY_SETTING).execute()
  expect(await said(egress, 'the egress gateway listens', 2)).toMatchObject({ host: '127.0.7.2', tcpPort, dnsPort })
  // The former address is free again.
  const former = createServer().listen(tcpPort, '127.0.7.1')
  await once(former, 'listening')
  former.close()
  // An address that this host does not have yet is waited for.
  await database.db.updateTable('server_setting').set({ value: '192.0.2.1' }).where('name', '=', EGRESS_GATEWAY_SETTING).execute()
  await said(egress, 'the egress gateway cannot listen yet')

  egress.child.kill('SIGTERM')
  expect(await once(egress.child, 'exit')).toEqual([0, null])
})

it('reports why it cannot start', async () => {
  using unset = start({ SANDYARD_EGRESS_TCP_PORT: 'x', SANDYARD_EXTRA_CA: import.meta.filename })
  expect(await once(unset.child, 'close')).toEqual([78, null])
  expect(unset.stderr()).toContain('DATABASE_URL is required')
  expect(unset.stderr()).toContain('SANDYARD_EGRESS_TCP_PORT must be a port')
  expect(unset.stderr()).toContain('SANDYARD_EXTRA_CA must name a file with certificates in PEM')
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  using second = start({ DATABASE_URL: 'postgres://127.0.0.1:1/none', SANDYARD_EGRESS_HEALTH_PORT: String(port) })
  expect(await once(second.child, 'close')).toEqual([1, null])
  expect(second.stderr()).toContain('EADDRINUSE')
  taken.close()
})
