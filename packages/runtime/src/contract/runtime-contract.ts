import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { Keep } from '../types.ts'
import { ContractBench } from './contract-bench.ts'
import type { ContractHarness } from './contract-harness.ts'
import { describeCapabilities } from './describe-capabilities.ts'
import { describeChanges } from './describe-changes.ts'
import { describeEngine } from './describe-engine.ts'
import { describeEvents } from './describe-events.ts'
import { describeIdentity } from './describe-identity.ts'
import { describeImages } from './describe-images.ts'
import { describeLifecycle } from './describe-lifecycle.ts'
import { describePausing } from './describe-pausing.ts'
import { describeSeparation } from './describe-separation.ts'
import { describeSnapshots } from './describe-snapshots.ts'
import { describeVolumes } from './describe-volumes.ts'

/**
 * Tests the guarantees of `SandboxRuntime` for any implementation, through the interface only. `makeHarness` is called once.
 *
 * @param keeps - what the runtime can keep in a pause
 */
export function describeRuntimeContract(
  name: string,
  makeHarness: () => Promise<ContractHarness>,
  keeps: readonly Keep[] = ['memory', 'files'],
): void {
  describe(`the runtime contract: ${name}`, () => {
    let opened: ContractBench | undefined
    const bench = (): ContractBench => {
      if (opened === undefined) throw new Error('the runtimes did not open')
      return opened
    }
    beforeAll(async () => {
      opened = await ContractBench.open(await makeHarness())
    })
    afterEach(() => opened?.removeAll())
    afterAll(() => opened?.[Symbol.asyncDispose]())

    describeEngine(bench)
    describeLifecycle(bench)
    describeIdentity(bench)
    describePausing(bench, keeps)
    describeCapabilities(bench)
    describeSnapshots(bench, keeps)
    describeChanges(bench)
    describeImages(bench)
    describeEvents(bench)
    describeSeparation(bench)
    describeVolumes(bench)
  })
}
