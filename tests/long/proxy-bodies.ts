import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { privateMib, runProxies } from './proxied/run-proxies.ts'

const MIB = 1024 * 1024
const HOST = '127.0.2.1'
const CHUNK = Buffer.alloc(MIB / 4, 'sandyard')
const SAMPLE_MS = 50
/** Limit for the growth of the proxy's memory during one body. */
const MAX_GROWTH_MIB = 96

/**
 * Sends large bodies through a proxy process in both directions: `npm run long:proxy-bodies [-- MiB]`, default 4,096. Exits with 1 if
 * a byte is missing or wrong, or the memory of the proxy grows beyond its limit.
 */
async function main(sizeMib: number): Promise<void> {
  const service = createServer((req, res) => void serve(req, res, sizeMib)).listen(0, HOST)
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  await runProxies({ hosts: [HOST], proxies: 1 }, async ({ ports: [proxyPort = 0], pids: [pid = 0] }) => {
    const wanted = expectedDigest(sizeMib)
    const call = { port: proxyPort, host: '127.0.0.1', headers: { host: `${port}-i1.localhost` }, agent: false } as const
    const download = async (): Promise<string> => {
      const [answer] = (await once(request(call).end(), 'response')) as [IncomingMessage]
      return await digestOf(answer)
    }
    const upload = async (coding: Record<string, string>): Promise<string> => {
      const outgoing = request({ ...call, method: 'POST', headers: { ...call.headers, ...coding } })
      const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
      await sendBody(outgoing, sizeMib)
      const [answer] = await answered
      return (await answer.setEncoding('latin1').toArray()).join('')
    }
    // The first requests load code that stays in memory.
    await download()
    await measured('download', pid, wanted, download)
    await measured('upload in chunks', pid, wanted, () => upload({ 'transfer-encoding': 'chunked' }))
    await measured('upload with a length', pid, wanted, () => upload({ 'content-length': String(sizeMib * MIB) }))
  })
  service.closeAllConnections()
  service.close()
}

async function serve(req: IncomingMessage, res: ServerResponse, sizeMib: number): Promise<void> {
  if (req.method === 'POST') res.end(await digestOf(req))
  else await sendBody(res, sizeMib)
}

async function sendBody(to: Writable, sizeMib: number): Promise<void> {
  for (let left = sizeMib * MIB; left > 0; left -= CHUNK.length) {
    if (!to.write(CHUNK)) await once(to, 'drain')
  }
  to.end()
}

async function digestOf(body: IncomingMessage): Promise<string> {
  const hash = createHash('sha1')
  for await (const chunk of body as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

function expectedDigest(sizeMib: number): string {
  let hash: Hash = createHash('sha1')
  for (let left = sizeMib * MIB; left > 0; left -= CHUNK.length) hash = hash.update(CHUNK)
  return hash.digest('hex')
}

async function measured(what: string, pid: number, wanted: string, transfer: () => Promise<string>): Promise<void> {
  const before = await privateMib(pid)
  const done = new AbortController()
  const peak = samplePeak(pid, done.signal)
  const start = performance.now()
  const digest = await transfer()
  const seconds = (performance.now() - start) / 1000
  done.abort()
  const growth = (await peak) - before
  console.log(`${what}: ${digest === wanted ? 'complete' : 'WRONG BYTES'} in ${seconds.toFixed(1)} s, at most ${growth} MiB more memory`)
  if (digest !== wanted || growth > MAX_GROWTH_MIB) process.exitCode = 1
}

async function samplePeak(pid: number, done: AbortSignal): Promise<number> {
  let peak = 0
  while (!done.aborted) {
    peak = Math.max(peak, await privateMib(pid))
    await delay(SAMPLE_MS, undefined, { signal: done }).catch(() => undefined)
  }
  return peak
}

await main(Number(process.argv[2] ?? 4096))
