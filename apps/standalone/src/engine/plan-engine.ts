import type { HostFacts } from './host-facts.ts'
import type { EnginePing } from './ping-engine.ts'

/** The next step when an engine does not answer. */
export type EnginePlan =
  | { readonly act: 'start' }
  | { readonly act: 'install-and-start' }
  | { readonly act: 'fail'; readonly sentence: string }

export interface EngineQuestion {
  readonly ping: Exclude<EnginePing, { kind: 'answers' }>
  readonly host: HostFacts
  /** The address of the ping. */
  readonly address: string
  /** `DOCKER_HOST` names the engine: then no other engine is started. */
  readonly isAddressGiven: boolean
  /** `SANDYARD_ENGINE=external`. */
  readonly isExternal: boolean
}

const COMPOSE = 'where the engine runs in a virtual machine of its own'

/** Decides without side effects. Each refusal is one sentence that says what to do. */
export function planEngine({ ping, host, address, isAddressGiven, isExternal }: EngineQuestion): EnginePlan {
  if (ping.kind === 'denied') {
    return fail(`The Docker engine at ${address} does not let this user in: add the user to the group "docker", or run this as root.`)
  }
  if (ping.kind === 'stuck')
    return fail(`The Docker engine at ${address} takes calls but does not answer them: restart it and run this again.`)
  const silence = `No Docker engine answers at ${address}`
  if (host.platform !== 'linux') return fail(`${silence}: start Docker Desktop or another engine (${COMPOSE}) and run this again.`)
  if (isAddressGiven) return fail(`${silence} (${ping.reason}): start it, or unset DOCKER_HOST to use the engine of this machine.`)
  if (isExternal) return fail(`${silence}, and with SANDYARD_ENGINE=external this program does not start one: start it and run this again.`)
  if (!host.isRoot) {
    const step = host.hasDockerd
      ? 'start it (`sudo systemctl start docker`)'
      : 'install Docker (on Debian and Ubuntu: `sudo apt-get install docker.io`)'
    return fail(`${silence}: ${step} and let this user use it, or run this as root, which does it by itself on Debian and Ubuntu.`)
  }
  if (host.hasDockerd) return { act: 'start' }
  if (host.family === 'debian') return { act: 'install-and-start' }
  return fail(`${silence}, and this program can install it only on Debian and Ubuntu: install Docker and run this again.`)
}

function fail(sentence: string): EnginePlan {
  return { act: 'fail', sentence }
}
