import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { FileAction } from '../agent/file-action.ts'
import type { Snapshot } from '../agent/snapshot-tree.ts'
import { type Address, exchange, type WireRequest } from '../wire/exchange.ts'
import { type Container, type ContainerSpec, startContainer } from './container.ts'

/** One of the two daemons in its container, with the agent that reads and changes its files. */
export class Twin implements AsyncDisposable {
  readonly daemon: Address
  readonly #container: Container

  private constructor(container: Container) {
    this.#container = container
    this.daemon = { host: container.host, port: container.daemonPort }
  }

  static async start(spec: ContainerSpec): Promise<Twin> {
    const container = await startContainer(spec)
    const twin = new Twin(container)
    await pollUntil({ what: `the agent of ${spec.label}`, timeoutMs: 60_000, everyMs: 50 }, () =>
      twin.restart().then(
        () => true,
        () => undefined,
      ),
    )
    return twin
  }

  /** Restores the prepared files. */
  async reset(): Promise<void> {
    await this.#ask('/reset')
  }

  /** Starts a new daemon, without the values of `/init` and without watchers. */
  async restart(): Promise<void> {
    await this.#ask('/restart')
  }

  async act(action: FileAction): Promise<void> {
    await this.#ask('/act', action)
  }

  async snapshot(): Promise<{ readonly tree: Snapshot; readonly alive: boolean }> {
    return (await this.#ask('/snapshot')) as { tree: Snapshot; alive: boolean }
  }

  send(request: WireRequest) {
    return exchange(this.daemon, request)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#container[Symbol.asyncDispose]() as Promise<void>
  }

  async #ask(operation: string, body: unknown = null): Promise<unknown> {
    const { host, agentPort } = this.#container
    const response = await fetch(`http://${host}:${agentPort}${operation}`, { method: 'POST', body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${operation}: ${text}`)
    return JSON.parse(text)
  }
}
