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
  /** Ends the processes of a sandbox from outside of it, as a restart of the engine does; also those of a frozen one. */
  loseMemory(installation: string, ref: SandboxRef): Promise<void>
}

export interface SandboxAccess {
  writeFile(path: string, text: string): Promise<void>
  /** Undefined when the file does not exist. */
  readFile(path: string): Promise<string | undefined>
  /** The text of the file in which the daemon looks for the digest of its instance key. */
  instanceFile(): Promise<string>
  /** Keeps a text in the memory of the first process, and in nothing else. */
  remember(text: string): Promise<void>
  /** Undefined when the process does not have one: it is another process than the one that got the text. */
  recall(): Promise<string | undefined>
  /** Ends the first process of the sandbox. Returns before the process has ended. */
  end(): Promise<void>
}
