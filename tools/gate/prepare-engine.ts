import Docker from 'dockerode'
import { ensureEngine } from '../../apps/standalone/src/engine/ensure-engine.ts'
import { ensureBaseImage } from '../../packages/runtime-docker/src/images/base-image.ts'
import { ensureDebianImage } from '../../packages/runtime-docker/src/images/debian-image.ts'
import { DIRECT } from '../../packages/kit/src/outbound/outbound.ts'
import { ensureDaemonDist } from '../../apps/daemon/build/dist.ts'

/**
 * Of a dockerd that is started here. It starts its own program about five times for each container, and each of these processes, which live for some
 * hundredths of a second, collected the garbage of its start three times, which was a quarter of its work. With this they never do.
 */
const ENGINE_SETTINGS = { GOGC: '300' }

/** Prepares an engine that answers, the images of test sandboxes, and their daemon. */
export async function prepareEngine(say: (line: string) => void): Promise<void> {
  await ensureEngine({
    environment: { ...ENGINE_SETTINGS, ...process.env },
    outbound: DIRECT,
    say,
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  })
  const docker = new Docker()
  const progress = { step: say, detail: () => undefined }
  await ensureDebianImage(docker, { progress })
  await ensureBaseImage(docker, { progress })
  await ensureDaemonDist()
}
