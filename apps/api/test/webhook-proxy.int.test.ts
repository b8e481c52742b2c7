import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { DIRECT, type Outbound } from '@sandyard/kit/outbound/outbound'
import { postDelivery, type AttemptOutcome } from '../src/webhooks/post-delivery.ts'
import { TargetAddresses } from '../src/webhooks/target-addresses.ts'

const names: Record<string, string[]> = { 'public.test': ['192.0.2.1'], 'inside.test': ['10.0.0.1'] }

const asked: string[] = []
const proxy = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  request.resume().on('end', () => response.writeHead(202).end())
})
proxy.on('connect', (request, socket) => {
  asked.push(`CONNECT ${request.url}`)
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
})
let outbound: Outbound
beforeAll(async () => {
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  outbound = { ...DIRECT, httpProxy: { url: new Secret(`http://127.0.0.1:${port}`), host: '127.0.0.1', port }, noProxy: ['direct.test'] }
})
beforeEach(() => void (asked.length = 0))
afterAll(() => void proxy.close())

const post = (url: string): Promise<AttemptOutcome> => {
  const parts = { outbound, targets: new TargetAddresses([]), lookupHost: async (name: string) => names[name] ?? [] }
  return postDelivery(parts, { url, headers: {}, body: '{}', signal: new AbortController().signal })
}

it.each(['http://public.test/hook', 'http://known-to-the-proxy.test/hook'])(
  '%s is sent through the proxy of the installation',
  async (url) => {
    expect(await post(url)).toEqual({ httpStatus: 202, errorClass: null })
    expect(asked).toEqual([`POST ${url}`])
  },
)

it('a URL with TLS is sent through a tunnel', async () => {
  expect(await post('https://public.test/hook')).toEqual({ httpStatus: null, errorClass: 'transport_error' })
  expect(asked).toEqual(['CONNECT public.test:443'])
})

it.each(['http://inside.test/', 'http://169.254.169.254/', 'http://127.0.0.1/', 'http://[::1]/'])(
  '%s is refused also with a proxy',
  async (url) => {
    expect(await post(url)).toEqual({ httpStatus: null, errorClass: 'request_error' })
    expect(asked).toEqual([])
  },
)

it.each(['localhost', 'direct.test'])('%s, which goes without the proxy, is reached only by checked addresses', async (name) => {
  const { port } = proxy.address() as AddressInfo
  expect(await post(`http://${name}:${port}/`)).toEqual({ httpStatus: null, errorClass: 'transport_error' })
  expect(asked).toEqual([])
})
