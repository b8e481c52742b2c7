import { request as requestHttp, type IncomingMessage } from 'node:http'
import type { LookupAddress } from 'node:dns'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { text } from 'node:stream/consumers'
import { callbackify } from 'node:util'
import type { Facts } from './facts.ts'

export interface ReachOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly timeoutMs?: number
}

export interface Reached {
  readonly status: number
  readonly text: string
  /** From the request to the first byte of the body. */
  readonly firstByteMs: number
}

const TIMEOUT_MS = 10_000

/** One request as a client outside makes it: with the names of this machine's resolver. @throws Error with the reason */
export async function reach(facts: Pick<Facts, 'machine' | 'authorities'>, url: string, options: ReachOptions = {}): Promise<Reached> {
  const startedAt = performance.now()
  const response = await open(facts, url, options)
  let firstByteMs = 0
  response.once('data', () => (firstByteMs = performance.now() - startedAt))
  const body = await text(response)
  return { status: response.statusCode ?? 0, text: body, firstByteMs: firstByteMs === 0 ? performance.now() - startedAt : firstByteMs }
}

/** Whether the request to upgrade a connection is answered with 101. */
export async function upgrades(facts: Pick<Facts, 'machine' | 'authorities'>, url: string): Promise<boolean> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'c2FuZHlhcmQtZG9jdG9yIQ==',
  }
  const response = await open(facts, url, { headers }).catch(() => undefined)
  response?.destroy()
  return response?.statusCode === 101
}

function open(
  { machine, authorities }: Pick<Facts, 'machine' | 'authorities'>,
  url: string,
  options: ReachOptions,
): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, timeoutMs = TIMEOUT_MS } = options
  const isSecure = url.startsWith('https:')
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = (isSecure ? requestHttps : requestHttp)(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(body.length) }) },
    lookup: lookUpWith(machine),
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ca: [...authorities],
  })
  call.on('response', resolve)
  call.on('upgrade', (response, socket) => {
    socket.destroy()
    resolve(response)
  })
  // The server may answer and close before it has read the whole body: then the answer counts.
  call.on('error', (err) => reject(err))
  call.end(body)
  return promise
}

/** The resolver of this machine for Node's sockets, which ask for all addresses (`autoSelectFamily`, Node's default). @throws Error for a name without one */
function lookUpWith(machine: Facts['machine']): LookupFunction {
  const all = async (name: string): Promise<LookupAddress[]> => {
    const addresses = await machine.lookUp(name)
    if (addresses.length === 0) throw new Error(`the name ${name} has no address`)
    return addresses.map((address) => ({ address, family: isIP(address) }))
  }
  return callbackify((name: string, _options: object) => all(name)) as LookupFunction
}
