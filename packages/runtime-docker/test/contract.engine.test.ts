import type { ContractHarness } from '@sandyard/runtime/contract/contract-harness'
import { describeRuntimeContract } from '@sandyard/runtime/contract/runtime-contract'
import { DEBIAN, EngineBench } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'

async function dockerHarness(): Promise<ContractHarness> {
  const bench = await EngineBench.open()
  return {
    image: DEBIAN,
    open: (installation) => bench.runtime({ installation }),
    inside: (_installation, _ref, endpoint) => new Inside(endpoint),
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  }
}

describeRuntimeContract('docker', dockerHarness)
