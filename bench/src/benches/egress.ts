import { setTimeout } from 'node:timers/promises'
import { stationOn } from '../../../packages/runtime-docker/src/containers/container-state.ts'
import { Guard } from '../../../packages/runtime-docker/src/egress/guard.ts'
import { guardImage } from '../../../packages/runtime-docker/src/egress/guard-image.ts'
import { openEgress } from '../../../packages/runtime-docker/src/egress/open-egress.ts'
import { compilePolicy, compileRegistration } from '../../../packages/runtime-docker/src/egress/sandbox-rules.ts'
import { connectEngine } from '../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { networkName } from '../../../packages/runtime-docker/src/labels.ts'
import { SandboxNetwork } from '../../../packages/runtime-docker/src/network/sandbox-network.ts'
import { removeInstallations } from '../../../packages/runtime-docker/src/remove-installation.ts'
import { silentLogger } from '../../../packages/kit/src/logging/create-logger.ts'
import { DEFAULT_EGRESS, type EgressPolicy } from '../../../packages/runtime/src/types.ts'
import { removeContainer, startContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { timeMs } from '../samples.ts'

const INSTALLATION = 'bench-egress'
const IMAGE = 'debian:bookworm-slim'
const ROUNDS = 22
const WARM_UPS = 2
const SETTLE_MS = 300
const OWN: EgressPolicy = { ...DEFAULT_EGRESS, allowInternet: false, allowOut: ['198.51.100.0/24', '203.0.113.7'] }

/** What the registration of one more sandbox takes, compared with the engine's create and start of its container. */
export async function benchEgress(): Promise<Comparison[]> {
  return [
    await measure('registration beside 1,000 sandboxes with the default policy', { others: 1000, policy: DEFAULT_EGRESS, atMost: 5 }),
    await measure('registration with a policy, beside 200 sandboxes with policies', { others: 200, policy: OWN, atMost: 35 }),
  ]
}

interface Setting {
  readonly others: number
  readonly policy: EgressPolicy
  readonly atMost: number
}

async function measure(what: string, { others, policy, atMost }: Setting): Promise<Comparison> {
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const network = new SandboxNetwork(docker, INSTALLATION)
  const { id } = await network.ensure()
  const progress = { step: () => undefined, detail: () => undefined }
  const [ours, engine]: number[][] = [[], []]
  try {
    await using control = await openEgress(docker, network, {
      installation: INSTALLATION,
      log: silentLogger(),
      progress,
      resolvers: ['192.0.2.53'],
    })
    await registerOthers(others, policy)
    for (let round = 0; round < ROUNDS; round++) {
      let container = ''
      const HostConfig = { NetworkMode: networkName(INSTALLATION) }
      const started = await timeMs(async () => {
        container = await startContainer({ Image: IMAGE, Entrypoint: ['sleep'], Cmd: ['600'], HostConfig })
      })
      try {
        // The start of the container goes on for a moment after the engine's answer.
        await setTimeout(SETTLE_MS)
        const station = stationOn(id, await docker.getContainer(container).inspect())
        if (station === undefined) throw new Error('the container has no address')
        const registered = await timeMs(() => control.register(station, policy))
        if (round >= WARM_UPS) {
          ours?.push(registered)
          engine?.push(started)
        }
        await control.unregister(station.address)
      } finally {
        await removeContainer(container)
      }
    }
  } finally {
    await removeInstallations(docker, [INSTALLATION])
  }
  const against = { name: 'bare engine', samples: engine ?? [] }
  return { what, unit: 'ms', ours: ours ?? [], against, goal: { of: 'ours', at: ['p50'], atMost } }

  /** They have elements and chains as real ones have, and ports that do not exist. */
  async function registerOthers(count: number, others: EgressPolicy): Promise<void> {
    const listeners = { onHost: () => undefined, onLost: () => undefined, onRefused: () => undefined }
    const options = { installation: INSTALLATION, image: await guardImage(), log: silentLogger(), ...listeners }
    await using guard = await Guard.start(docker, options)
    const rules = Array.from({ length: count }, (_, at) => {
      const [high, low] = [Math.floor(at / 250), at % 250]
      const station = { address: `10.250.${high}.${low}`, mac: `02:42:0a:fa:${hex(high)}:${hex(low)}` }
      return compileRegistration(INSTALLATION, station, compilePolicy(INSTALLATION, station.address, others)).replaceAll(
        '@PORT@',
        `bench-${at}`,
      )
    })
    await guard.apply(rules.join('\n'))
  }
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
