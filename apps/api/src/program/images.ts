import { statfsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startStopwatch } from '@sandyard/kit/async/timed-step'
import { outboundOf } from '@sandyard/kit/outbound/outbound'
import { ensureGuardImage } from '@sandyard/runtime-docker/egress/guard-image'
import { ensureBaseImage } from '@sandyard/runtime-docker/images/base-image'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import type { ImageRef } from '@sandyard/runtime/types'
import type { DaemonDist } from '@sandyard/runtime-docker/daemon-volume/daemon-dist'
import { StartFailure } from './failures/start-failure.ts'
import type { ProgramParts } from './program-parts.ts'

export interface SandboxImages {
  readonly base: ImageRef
  readonly daemonDist: DaemonDist
}

/** The images take about 1.2 GiB at the first start. With less free space an engine cannot run sandboxes for long either. */
const LEAST_FREE_BYTES = 2 * 1024 ** 3

/**
 * Prepares the image of the `base` template, the guard's image and the daemon. The first start makes all three at the same time.
 *
 * @param engineRoot the folder of the engine's images, where it is on this machine
 */
export async function prepareImages(parts: ProgramParts, engineRoot: string | undefined): Promise<SandboxImages> {
  if (engineRoot !== undefined) checkEngineDisk(engineRoot)
  const [base, daemonDist] = await Promise.all([prepareEngineImages(parts), prepareDaemon(parts)])
  return { base, daemonDist }
}

async function prepareEngineImages({ config, progress }: ProgramParts): Promise<ImageRef> {
  const took = startStopwatch()
  const docker = await connectEngine(config.dockerHost)
  const options = { progress, mirror: config.debianMirror, outbound: outboundOf(config) }
  const [base] = await Promise.all([ensureBaseImage(docker, options), ensureGuardImage(docker, options)])
  progress.step(`template: base (${base}), ${took()}`)
  return base
}

/** The daemon for the volume of sandboxes; that of the settings, else made by the first call on this machine. */
export async function prepareDaemon({ config, progress }: Pick<ProgramParts, 'config' | 'progress'>): Promise<DaemonDist> {
  const took = startStopwatch()
  if (config.daemonDist !== undefined) return findDaemon(config.daemonDist)
  // The builder is imported only here, because a running server does not need its dependencies.
  const { ensureDaemonDist } = await import('../../../daemon/build/dist.ts')
  const daemonDist = await ensureDaemonDist()
  const { endBundler } = await import('../../../daemon/build/bundle.ts')
  await endBundler()
  progress.step(`daemon: ${daemonDist.version}, ${took()}`)
  return daemonDist
}

/** The disk of a remote engine is not visible from here; the engine reports when it is full. */
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

/** The folder contains one distribution, under its version. */
async function findDaemon(folder: string): Promise<DaemonDist> {
  const [version, ...others] = await readdir(folder).catch(() => [])
  if (version === undefined || others.length > 0)
    throw new StartFailure(`The folder ${folder} of SANDYARD_DAEMON_DIST must contain exactly one distribution of the daemon.`)
  return { dir: join(folder, version), version }
}
