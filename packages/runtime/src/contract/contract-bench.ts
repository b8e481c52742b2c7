import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxRuntime } from '../sandbox-runtime.ts'
import { DEFAULT_EGRESS, type RuntimeState, type SandboxEndpoint, type SandboxRef, type SandboxSpec } from '../types.ts'
import type { ContractHarness, SandboxAccess } from './contract-harness.ts'

/** The shared parts of the contract tests: two installations on one engine, and short methods for the common actions. */
export class ContractBench implements AsyncDisposable {
  readonly runtime: SandboxRuntime
  readonly other: SandboxRuntime
  readonly #harness: ContractHarness
  readonly #installation: string

  private constructor(harness: ContractHarness, installation: string, runtimes: { own: SandboxRuntime; other: SandboxRuntime }) {
    this.#harness = harness
    this.#installation = installation
    this.runtime = runtimes.own
    this.other = runtimes.other
  }

  static async open(harness: ContractHarness): Promise<ContractBench> {
    const installation = `contract-${randomId(8)}`
    const own = await harness.open(installation)
    return new ContractBench(harness, installation, { own, other: await harness.open(`contract-${randomId(8)}`) })
  }

  /** The spec of a new sandbox. */
  spec(change: Partial<SandboxSpec> = {}): SandboxSpec {
    return {
      sandboxId: `i${randomId(19)}`,
      incarnation: 1,
      image: this.#harness.image,
      resources: { cpuCount: 1, memoryMib: 256, diskMib: 512 },
      instanceKey: new Secret(randomId(32)),
      allowPrivilegeGain: true,
      mounts: [],
      egress: DEFAULT_EGRESS,
      ...change,
    }
  }

  /** Starts a new sandbox of the first installation. */
  async start(change: Partial<SandboxSpec> = {}): Promise<{ spec: SandboxSpec; endpoint: SandboxEndpoint; inside: SandboxAccess }> {
    const spec = this.spec(change)
    const endpoint = await this.runtime.create(spec)
    return { spec, endpoint, inside: this.inside(spec, endpoint) }
  }

  inside(ref: SandboxRef, endpoint: SandboxEndpoint): SandboxAccess {
    return this.#harness.inside(this.#installation, ref, endpoint)
  }

  /** Ends the processes of a sandbox of the first installation from outside. */
  loseMemory(ref: SandboxRef): Promise<void> {
    return this.#harness.loseMemory(this.#installation, ref)
  }

  async stateOf({ sandboxId, incarnation }: SandboxRef): Promise<RuntimeState | undefined> {
    const found = (await this.runtime.list()).find((item) => item.sandboxId === sandboxId && item.incarnation === incarnation)
    return found?.state
  }

  /** Waits until `list` returns this state; undefined means absent. */
  async untilState(ref: SandboxRef, state: RuntimeState | undefined): Promise<void> {
    const isThere = async (): Promise<true | undefined> => ((await this.stateOf(ref)) === state ? true : undefined)
    await pollUntil({ what: `the state ${state}`, timeoutMs: 20_000, everyMs: 20 }, isThere)
  }

  async removeAll(): Promise<void> {
    for (const runtime of [this.runtime, this.other]) {
      const left = await runtime.list()
      await Promise.all(left.map((ref) => runtime.remove(ref)))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removeAll()
    await this.runtime[Symbol.asyncDispose]()
    await this.other[Symbol.asyncDispose]()
    await this.#harness[Symbol.asyncDispose]()
  }
}
