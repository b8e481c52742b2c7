import type { SandboxRuntime } from '../sandbox-runtime.ts'
import type { ImageRef, SandboxEndpoint, SandboxRef } from '../types.ts'

/** The contract suite needs this in addition to the runtime: access to the sandboxes. */
export interface ContractHarness extends AsyncDisposable {
  /** An image that can be started. */
  readonly image: ImageRef
  /** A runtime of an installation without sandboxes. All runtimes of a harness share one engine. */
  open(installation: string): Promise<SandboxRuntime>
  /** Access to a running sandbox. `installation` is the installation of the runtime that created it. */
  inside(installation: string, ref: SandboxRef, endpoint: SandboxEndpoint): SandboxAccess
}

export interface SandboxAccess {
  writeFile(path: string, text: string): Promise<void>
  /** Undefined when the file does not exist. */
  readFile(path: string): Promise<string | undefined>
  /** The text of the file in which the daemon looks for the digest of its instance key. */
  instanceFile(): Promise<string>
  /** Ends the first process of the sandbox. Returns before the process has ended. */
  end(): Promise<void>
}
