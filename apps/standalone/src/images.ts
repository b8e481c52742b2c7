import { statfsSync } from 'node:fs'
import { ensureBaseImage } from '@sandyard/runtime-docker/images/base-image'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import type { ImageRef } from '@sandyard/runtime/types'
import type { DaemonDist } from '@sandyard/runtime-docker/daemon-volume/daemon-dist'
import type { AnsweringEngine } from './engine/ensure-engine.ts'
import { StartFailure } from './failures/start-failure.ts'
import type { StartParts } from './start-all.ts'

export interface SandboxImages {
  readonly base: ImageRef
  readonly daemonDist: DaemonDist
}

/** The images take about 1.5 GiB at the first start; below this an engine also cannot run sandboxes for long. */
const LEAST_FREE_BYTES = 2 * 1024 ** 3

/** What sandboxes are made of: the image of the `base` template and the daemon. The first start makes both, visibly. */
export async function prepareImages({ config, terminal }: StartParts, engine: AnsweringEngine): Promise<SandboxImages> {
  checkEngineDisk(engine.rootDirectory)
  const docker = await connectEngine(config.dockerHost)
  const base = await ensureBaseImage(docker, { progress: terminal, mirror: config.debianMirror })
  terminal.step(`template: base (${base})`)
  // The builder is loaded only here: what it is made of has no place in a server that runs.
  const { ensureDaemonDist } = await import('../../daemon/build/dist.ts')
  const daemonDist = await ensureDaemonDist()
  terminal.step(`daemon: ${daemonDist.version}`)
  return { base, daemonDist }
}

/** An engine elsewhere has a disk that is not seen from here, and says itself when it is full. */
function checkEngineDisk(rootDirectory: string): void {
  let freeBytes: number
  try {
    const { bavail, bsize } = statfsSync(rootDirectory)
    freeBytes = bavail * bsize
  } catch {
    return
  }
  if (freeBytes >= LEAST_FREE_BYTES) return
  throw new StartFailure(`The disk of the Docker engine (${rootDirectory}) is full: free at least 2 GiB and run this again.`)
}
