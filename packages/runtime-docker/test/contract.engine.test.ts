import type { ContractHarness } from '@sandyard/runtime/contract/contract-harness'
import { describeRuntimeContract } from '@sandyard/runtime/contract/runtime-contract'
import { containerName } from '../src/labels.ts'
import { DEBIAN, EngineBench } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { volumeServer } from './support/volume-server-dist.ts'

async function dockerHarness(): Promise<ContractHarness> {
  const bench = await EngineBench.open({ part: await volumeServer() })
  return {
    image: DEBIAN,
    open: (installation) => bench.runtime({ installation }),
    inside: (_installation, _ref, endpoint) => new Inside(endpoint),
    loseMemory: async (installation, ref) => {
      // A frozen process of a container gets the signal when it is thawed, which the engine does.
      await bench.docker.getContainer(containerName(installation, ref)).kill({ signal: 'SIGKILL' })
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  }
}

describeRuntimeContract('docker', dockerHarness)
