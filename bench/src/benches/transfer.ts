import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const MIB = 1024 * 1024
const SIZE_MIB = 256
const PATH = '/tmp/bench.bin'

interface Target {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** A file into a sandbox and out of it through the proxy, against a bare `node:http` server that does the same on this machine. */
export async function benchTransfer({ sandboxUrl }: Settings): Promise<Comparison[]> {
  await using bare = await startBareCopyServer()
  return await withSandbox(async (sandbox) => {
    const routing = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' }
    const toTarget = (signed: string): Target => {
      const { pathname, search } = new URL(signed)
      return { url: new URL(pathname + search, sandboxUrl), headers: routing }
    }
    const upload = toTarget(await sandbox.uploadUrl(PATH))
    const download = toTarget(await sandbox.downloadUrl(PATH))
    const samples = await interleave(
      { times: 7, warmUps: 1 },
      {
        upload: () => throughput(() => send(upload)),
        bareUpload: () => throughput(() => send(bare)),
        download: () => throughput(() => receive(download)),
        bareDownload: () => throughput(() => receive(bare)),
      },
    )
    const goal = 'ratio >= 0.5'
    return [
      {
        what: `upload of ${SIZE_MIB} MiB`,
        unit: 'MiB/s',
        ours: samples.upload,
        against: { name: 'bare copy', samples: samples.bareUpload },
        goal,
      },
      {
        what: `download of ${SIZE_MIB} MiB`,
        unit: 'MiB/s',
        ours: samples.download,
        against: { name: 'bare copy', samples: samples.bareDownload },
        goal,
      },
    ]
  })
}

async function throughput(work: () => Promise<unknown>): Promise<number> {
  return SIZE_MIB / ((await timeMs(work)) / 1000)
}

async function send({ url, headers }: Target): Promise<void> {
  const length = { 'content-type': 'application/octet-stream', 'content-length': String(SIZE_MIB * MIB) }
  const call = request(url, { method: 'POST', headers: { ...headers, ...length }, agent: false })
  const chunk = Buffer.alloc(MIB, 'a')
  const sent = pipeline(Readable.from(Array(SIZE_MIB).fill(chunk)), call)
  const [[answer]] = (await Promise.all([once(call, 'response'), sent])) as [[IncomingMessage], void]
  await expectOk(url, answer)
  answer.resume()
  await once(answer, 'end')
}

async function receive({ url, headers }: Target): Promise<void> {
  const call = request(url, { headers: { ...headers, 'accept-encoding': 'identity' }, agent: false }).end()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  await expectOk(url, answer)
  let bytes = 0
  answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(answer, 'end')
  if (bytes !== SIZE_MIB * MIB) throw new Error(`${url.href} sent ${bytes} bytes`)
}

async function expectOk(url: URL, answer: IncomingMessage): Promise<void> {
  if (answer.statusCode === 200) return
  const text = (await answer.setEncoding('utf8').toArray()).join('')
  throw new Error(`${url.pathname} answered ${answer.statusCode}: ${text}`)
}

async function startBareCopyServer(): Promise<Target & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-bench-'))
  const script = join(import.meta.dirname, '../bare-copy-server.ts')
  const child = spawn(process.execPath, [script, join(directory, 'copy')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: new URL(`http://127.0.0.1:${port.toString().trim()}/`),
    headers: {},
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
