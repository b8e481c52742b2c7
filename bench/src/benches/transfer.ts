import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { download, upload, type Transfer } from '../http-call.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const SIZE_MIB = 256
const PATH = '/tmp/bench.bin'

/** A file into a sandbox and out of it through the proxy, compared with a bare `node:http` server on this machine that does the same. */
export async function benchTransfer({ sandboxUrl }: Settings): Promise<Comparison[]> {
  await using bare = await startBareServer()
  return await withSandbox(async (sandbox) => {
    const routing = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' }
    const toTarget = (signed: string): Transfer => {
      const { pathname, search } = new URL(signed)
      return { url: new URL(pathname + search, sandboxUrl), headers: routing, mib: SIZE_MIB }
    }
    const up = toTarget(await sandbox.uploadUrl(PATH))
    const down = toTarget(await sandbox.downloadUrl(PATH))
    const samples = await interleave(
      { times: 7, warmUps: 1 },
      {
        upload: () => throughput(() => upload(up)),
        bareUpload: () => throughput(() => upload(bare)),
        download: () => throughput(() => download(down)),
        bareDownload: () => throughput(() => download(bare)),
      },
    )
    const goal = { of: 'ratio', at: ['p50'], atLeast: 0.5 } as const
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

async function startBareServer(): Promise<Transfer & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-bench-'))
  const script = join(import.meta.dirname, '../bare-server.ts')
  const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: new URL(`http://127.0.0.1:${port.toString().trim()}/`),
    mib: SIZE_MIB,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}
