import type Docker from 'dockerode'
import type { SandboxNetwork } from '../network/sandbox-network.ts'
import type { DockerRuntimeOptions } from '../runtime-options.ts'
import { DEFAULT_LIMITS } from './base-rules.ts'
import { EgressControl } from './egress-control.ts'
import { Guard } from './guard.ts'
import { ensureGuardImage } from './guard-image.ts'
import { engineResolvers } from './resolvers.ts'

type EgressOptions = Pick<
  DockerRuntimeOptions,
  | 'installation'
  | 'log'
  | 'progress'
  | 'resolvers'
  | 'openPrivate'
  | 'controlNetworks'
  | 'ingressSources'
  | 'egressGateway'
  | 'egressLimits'
  | 'onRefused'
  | 'outbound'
>

/** Opens the egress control of an installation, with a running guard. The first time on an engine this builds the guard's image. */
export async function openEgress(docker: Docker, network: SandboxNetwork, options: EgressOptions): Promise<EgressControl> {
  const { installation, log, progress, outbound, resolvers = [], openPrivate = [], controlNetworks = [], ingressSources = [] } = options
  const guardImage = (): Promise<string> => ensureGuardImage(docker, { progress, outbound })
  await guardImage()
  const control = new EgressControl({
    installation,
    settings: {
      openPrivate,
      controlNetworks,
      ingressSources,
      gateway: options.egressGateway,
      limits: options.egressLimits ?? DEFAULT_LIMITS,
    },
    log,
    onRefused: options.onRefused ?? (() => undefined),
    bridge: () => network.ensure(),
    lookForBridge: () => network.look(),
    startGuard: async (listeners) => Guard.start(docker, { installation, image: await guardImage(), log, ...listeners }),
    readResolvers: async () => (resolvers.length > 0 ? resolvers : engineResolvers(docker, { installation, image: await guardImage() })),
    companyProxy: outbound?.httpProxy,
  })
  await control.open()
  return control
}
