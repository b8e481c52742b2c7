import type { SandboxRuntime } from '../sandbox-runtime.ts'
import type { ImageRef, SandboxEndpoint, SandboxRef } from '../types.ts'

/** What the contract suite needs beside the runtime: a way into its sandboxes. */
export interface ContractHarness extends AsyncDisposable {
  /** An image that starts. */
  readonly image: ImageRef
  /** A runtime of an installation without sandboxes, on the one engine of this harness. */
  open(installation: string): Promise<SandboxRuntime>
  /** Access to a running sandbox. `installation` is that of the runtime which created it. */
  inside(installation: string, ref: SandboxRef, endpoint: SandboxEndpoint): SandboxAccess
}

export interface SandboxAccess {
  writeFile(path: string, text: string): Promise<void>
  /** Undefined when the file does not exist. */
  readFile(path: string): Promise<string | undefined>
  /** Ends the sandbox's first process; returns without waiting for the end. */
  end(): Promise<void>
}
