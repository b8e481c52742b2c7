import { expect, it } from 'vitest'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { echoTls, listenEcho, listenOnPort, startEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const PROXY = '127.1.0.77'
const SOURCE = '127.9.12.1'

it('closes the proxy of the company at its port, for its address and for every name of it', async () => {
  const zone = { 'proxy.corp.example': [PROXY], 'a.example.com': [PROXY], 'b.example.com': [OPEN] }
  await using egress = await startEgress({ companyProxy: 'proxy.corp.example', zone })
  await using _tls = await listenOnPort(echoTls('b.example.com'), egress.tlsPort)
  await using echo = await listenEcho()
  await egress.addSandbox('i1', SOURCE, { allowOut: ['a.example.com', 'b.example.com', PROXY], denyOut: ['0.0.0.0/0'] })
  const tls = { address: OPEN, port: egress.tlsPort }
  const open = await secure(await egress.dial(SOURCE, tls), { servername: 'b.example.com' })
  expect(await readUntil(open, '\n')).toBe(`${OPEN} b.example.com\n`)
  open.destroy()
  await expect(secure(await egress.dial(SOURCE, tls), { servername: 'a.example.com' })).rejects.toThrow('closed')
  expect(await readAll(await egress.dial(SOURCE, { address: PROXY, port: egress.tlsPort }))).toBe('')
  // Its other ports are not the proxy.
  const other = await egress.dial(SOURCE, { address: PROXY, port: echo.port })
  other.end('hello')
  expect(await readAll(other)).toBe('hello')
  expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'closed_name' })).toBe(1)
  expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'always_closed' })).toBe(1)
})
