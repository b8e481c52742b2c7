import { readFile, rm, mkdtemp, statfs } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemonProcess } from '../../apps/daemon/test/support/daemon-process.ts'

const MIB = 1024 * 1024
const CHUNK = Buffer.alloc(MIB / 4, 'sandyard')
const SAMPLE_MS = 50
/** Limits for the growth of the daemon's memory: during one transfer, and with stalled clients. */
const [MAX_GROWTH_MIB, MAX_STALLED_GROWTH_MIB] = [32, 48]
const STALLED = 200
/** Slow enough to keep every buffer between daemon and client full. */
const SLOW_BYTES_PER_SECOND = 64 * MIB
const SLOW_MIB = 256

/**
 * Uploads and downloads a file with a new daemon, and prints the growth of its private memory: `npm run long:transfer [-- MiB]`, default
 * 4,096. Exits with 1 if the growth exceeds its limit or bytes are missing. Needs that much space in `TMPDIR`.
 */
async function main(sizeMib: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-transfer-'))
  try {
    const { bavail, bsize } = await statfs(directory)
    if (bavail * bsize < sizeMib * MIB * 1.1) throw new Error(`${directory} has less than ${sizeMib} MiB of free space`)
    await using daemon = await startDaemonProcess(directory)
    const files = `${daemon.url}/files?path=${directory}/file`
    // Warm-up: the first requests load code that stays in memory.
    await upload(files, 1)
    await download(files, { sizeMib: 1 })
    const idle = await privateMib(daemon.pid)
    console.log(`idle: ${idle.toFixed(1)} MiB`)
    const single = { pid: daemon.pid, before: idle, limit: MAX_GROWTH_MIB }
    const stalled = async () => ({ ...single, before: await privateMib(daemon.pid), limit: MAX_STALLED_GROWTH_MIB })
    await measured('upload', single, () => upload(files, sizeMib))
    await measured('download', single, () => download(files, { sizeMib }))
    await measured('download, gzip', single, () => download(files, { sizeMib, coding: 'gzip' }))
    await measured('form', single, () => upload(files, sizeMib, 'form'))
    await upload(files, SLOW_MIB)
    await measured('slow download', single, () => download(files, { sizeMib: SLOW_MIB, bytesPerSecond: SLOW_BYTES_PER_SECOND }))
    await upload(files, SLOW_MIB)
    await measured(`${STALLED} stalled downloads`, await stalled(), () => stalledDownloads(files, STALLED))
    await measured(`${STALLED} stalled uploads`, await stalled(), () => stalledUploads(files, STALLED))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Budget {
  readonly pid: number
  /** Both in MiB. */
  readonly before: number
  readonly limit: number
}

async function measured(what: string, { pid, before, limit }: Budget, transfer: () => Promise<number>): Promise<void> {
  const done = new AbortController()
  const peak = samplePeak(pid, done.signal)
  const start = performance.now()
  const bytes = await transfer()
  const seconds = (performance.now() - start) / 1000
  done.abort()
  const growth = (await peak) - before
  const pace = bytes > 0 ? `, ${Math.round(bytes / MIB / seconds)} MiB/s` : ''
  console.log(`${what}: at most ${growth.toFixed(1)} MiB more${pace}`)
  if (growth > limit) process.exitCode = 1
}

async function samplePeak(pid: number, done: AbortSignal): Promise<number> {
  let peak = 0
  for (;;) {
    peak = Math.max(peak, await privateMib(pid))
    if (done.aborted) return peak
    await delay(SAMPLE_MS)
  }
}

async function privateMib(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map((match) => Number(match[1]))
  return kib.reduce((sum, part) => sum + part, 0) / 1024
}

async function upload(url: string, sizeMib: number, form?: 'form'): Promise<number> {
  const type = form === undefined ? 'application/octet-stream' : 'multipart/form-data; boundary=XX'
  const outgoing = request(url, { method: 'POST', headers: { 'content-type': type }, agent: new Agent() })
  const answered = once(outgoing, 'response')
  if (form !== undefined) outgoing.write('--XX\r\nContent-Disposition: form-data; name="file"\r\n\r\n')
  for (let left = sizeMib * MIB; left > 0; left -= CHUNK.length) {
    if (!outgoing.write(CHUNK)) await once(outgoing, 'drain')
  }
  outgoing.end(form === undefined ? '' : '\r\n--XX--\r\n')
  const [answer] = (await answered) as [IncomingMessage]
  answer.resume()
  if (answer.statusCode !== 200) throw new Error(`the upload ended with ${answer.statusCode}`)
  return sizeMib * MIB
}

interface Download {
  readonly sizeMib: number
  readonly coding?: string
  readonly bytesPerSecond?: number
}

async function download(url: string, { sizeMib, coding, bytesPerSecond = Infinity }: Download): Promise<number> {
  const incoming = await beginDownload(url, coding)
  const start = performance.now()
  let received = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    received += chunk.length
    const early = (received / bytesPerSecond) * 1000 - (performance.now() - start)
    if (early > 1) await delay(early)
  }
  if (coding === undefined && received !== sizeMib * MIB) throw new Error(`${received} bytes came of ${sizeMib} MiB`)
  return sizeMib * MIB
}

async function beginDownload(url: string, coding?: string): Promise<IncomingMessage> {
  const headers = coding === undefined ? {} : { 'accept-encoding': coding }
  const [incoming] = (await once(request(url, { headers, agent: new Agent() }).end(), 'response')) as [IncomingMessage]
  return incoming
}

async function stalledDownloads(url: string, count: number): Promise<number> {
  const downloads = await Promise.all(Array.from({ length: count }, () => beginDownload(url)))
  await delay(1000)
  for (const incoming of downloads) incoming.destroy()
  return 0
}

async function stalledUploads(url: string, count: number): Promise<number> {
  const uploads = Array.from({ length: count }, (_item, index) => {
    const outgoing = request(`${url}${index}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      agent: new Agent(),
    })
    outgoing.on('error', () => undefined)
    outgoing.write(CHUNK)
    return outgoing
  })
  await delay(1000)
  for (const outgoing of uploads) outgoing.destroy()
  return 0
}

await main(Number(process.argv[2] ?? 4096))
