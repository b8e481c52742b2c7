import { readOnce } from './read-once.ts'
import type { ServerReader } from './server-reader.ts'
import { ThrowAwaySandbox } from './throw-away-sandbox.ts'

/** The sandboxes of `--deep`. They are created when the first check asks, shared by the checks, and killed at the end. */
export class SandboxReader implements AsyncDisposable {
  readonly #servers: ServerReader
  readonly #made: ThrowAwaySandbox[] = []
  readonly first = readOnce(() => this.create())
  readonly sibling = readOnce(() => this.create())

  constructor(servers: ServerReader) {
    this.#servers = servers
  }

  /** One for a single check. @throws Unreadable */
  async create(): Promise<ThrowAwaySandbox> {
    const sandbox = await ThrowAwaySandbox.create(this.#servers)
    this.#made.push(sandbox)
    return sandbox
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#made.map((sandbox) => sandbox[Symbol.asyncDispose]()))
  }
}
