import type Docker from 'dockerode'
import type { DockerRuntimeOptions } from '../runtime-options.ts'
import { EgressControl } from './egress-control.ts'
import { Guard } from './guard.ts'
import { ensureGuardImage } from './guard-image.ts'
import { engineResolvers } from './resolvers.ts'

/** The egress control of an installation, with its guard running. The first time on an engine the guard's image is built. */
export async function openEgress(docker: Docker, options: DockerRuntimeOptions): Promise<EgressControl> {
  const { installation, log, progress, resolvers = [], openPrivate = [], controlNetworks = [], ingressSources = [] } = options
  await ensureGuardImage(docker, progress)
  const control = new EgressControl({
    settings: { openPrivate, controlNetworks, ingressSources },
    log,
    startGuard: async (onHost) => Guard.start(docker, { installation, image: await ensureGuardImage(docker, progress), log, onHost }),
    readResolvers: async () => (resolvers.length > 0 ? resolvers : engineResolvers(docker, await ensureGuardImage(docker, progress))),
  })
  await control.open()
  return control
}
