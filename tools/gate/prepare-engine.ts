import Docker from 'dockerode'
import { ensureEngine } from '../../apps/standalone/src/engine/ensure-engine.ts'
import { ensureBaseImage } from '../../packages/runtime-docker/src/images/base-image.ts'
import { ensureDebianImage } from '../../packages/runtime-docker/src/images/debian-image.ts'
import { DIRECT } from '../../packages/kit/src/outbound/outbound.ts'
import { ensureDaemonDist } from '../../apps/daemon/build/dist.ts'

/** Prepares an engine that answers, the images of test sandboxes, and their daemon. */
export async function prepareEngine(say: (line: string) => void): Promise<void> {
  await ensureEngine({ environment: process.env, outbound: DIRECT, say, isInteractive: process.stdin.isTTY && process.stdout.isTTY })
  const docker = new Docker()
  const progress = { step: say, detail: () => undefined }
  await ensureDebianImage(docker, { progress })
  await ensureBaseImage(docker, { progress })
  await ensureDaemonDist()
}
