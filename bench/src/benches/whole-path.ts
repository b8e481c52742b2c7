import type { Sandbox } from 'e2b'
import { ensureDaemonDist } from '../../../apps/daemon/build/dist.ts'
import { startDaemon } from '../daemon/daemons.ts'
import { findSandboxContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'

const FILE = '/tmp/whole-path'
const KIB = 'x'.repeat(1024)

interface Work {
  readonly what: string
  /** The goal of the ratio. */
  readonly atMost: number
  readonly run: (sandbox: Sandbox) => Promise<unknown>
}

const WORKS: readonly Work[] = [
  { what: "commands.run('true')", atMost: 1, run: (sandbox) => sandbox.commands.run('true') },
  { what: 'write of 1 KiB', atMost: 1.3, run: (sandbox) => sandbox.files.write(FILE, KIB) },
  { what: 'read of 1 KiB', atMost: 1.3, run: (sandbox) => sandbox.files.read(FILE) },
  { what: 'stat', atMost: 1.3, run: (sandbox) => sandbox.files.getInfo(FILE) },
]

/** Calls of the SDK through proxy and daemon, compared with the same calls directly to another daemon in a container of the same image. */
export async function benchWholePath(sandbox: Sandbox, reference: string): Promise<Comparison[]> {
  const { Image: image } = await findSandboxContainer(sandbox.sandboxId)
  const { dir: dist } = await ensureDaemonDist()
  await using direct = await startDaemon({ image, dist, reference }, 'reference')
  const comparisons: Comparison[] = []
  for (const { what, atMost, run } of WORKS) {
    const samples = await interleave(
      { times: 150, warmUps: 20 },
      { ours: () => timeMs(() => run(sandbox)), reference: () => timeMs(() => run(direct.sandbox)) },
    )
    comparisons.push({
      what: `${what}, SDK through the proxy`,
      unit: 'ms',
      ours: samples.ours,
      against: { name: 'reference', samples: samples.reference },
      goal: { of: 'ratio', at: ['p50'], atMost },
    })
  }
  return comparisons
}
