import type { RuntimeCapabilities, SandboxEndpoint, SandboxSpec } from '../types.ts'
import type { FakeEngine, FakeImageFacts } from './fake-engine.ts'

export interface FakeRuntimeOptions {
  /** Runtimes with the same engine and installation share their sandboxes. Default: an engine of its own. */
  readonly engine?: FakeEngine
  readonly installation?: string
  /** Returns the daemon address of a new sandbox: a test points it to its own server. Default: a port where nothing listens. */
  readonly endpointOf?: (spec: SandboxSpec) => SandboxEndpoint | Promise<SandboxEndpoint>
  /** The images that exist. Default: all. */
  readonly images?: ReadonlySet<string>
  /** Settings of images, by the reference to pull or the text of a Dockerfile. Default: none. */
  readonly imageFacts?: (source: string) => Partial<FakeImageFacts>
  /** Default: a command that does not exist in any sandbox. */
  readonly imageTool?: readonly string[]
  readonly capabilities?: Partial<RuntimeCapabilities>
  readonly maxUnreadEvents?: number
  /** Default: the same for all. */
  readonly generation?: string
}
