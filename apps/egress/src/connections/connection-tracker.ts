import { isSameRun, type EgressSandbox } from '../sandboxes/sandbox.ts'

/** One open connection of a sandbox. */
export interface TrackedConnection {
  readonly sandbox: EgressSandbox
  /** Adopts the current policy of the same run; false when that policy refuses the connection or takes it another way. */
  readonly adopt: (sandbox: EgressSandbox) => boolean
  /** Breaks the connection. Called at most once. */
  readonly reset: () => void
}

/** Reads the current sandboxes at some addresses. */
type ReadCurrent = (addresses: readonly string[]) => Promise<ReadonlyMap<string, EgressSandbox>>

/** The open connections of each sandbox. A connection ends with its run, and when a new policy refuses it. */
export class ConnectionTracker {
  readonly #read: ReadCurrent
  readonly #bySandbox = new Map<string, Set<TrackedConnection>>()
  #count = 0

  constructor(read: ReadCurrent) {
    this.#read = read
  }

  get count(): number {
    return this.#count
  }

  has(sandboxId: string): boolean {
    return this.#bySandbox.has(sandboxId)
  }

  open(connection: TrackedConnection): void {
    const { sandboxId } = connection.sandbox
    const open = this.#bySandbox.get(sandboxId) ?? new Set()
    this.#bySandbox.set(sandboxId, open.add(connection))
    this.#count += 1
  }

  /** Removes a connection that has ended. Safe to repeat. */
  close(connection: TrackedConnection): void {
    const { sandboxId } = connection.sandbox
    const open = this.#bySandbox.get(sandboxId)
    if (open?.delete(connection) !== true) return
    this.#count -= 1
    if (open.size === 0) this.#bySandbox.delete(sandboxId)
  }

  /** Ends the connections that the current rows do not allow, of the given sandboxes or of all. */
  async recheck(sandboxIds: readonly string[] = [...this.#bySandbox.keys()]): Promise<void> {
    // Connections that open later have read a row that is at least as new as this read.
    const connections = sandboxIds.flatMap((id) => [...(this.#bySandbox.get(id) ?? [])])
    if (connections.length === 0) return
    const current = await this.#read([...new Set(connections.map(({ sandbox }) => sandbox.address))])
    for (const connection of connections) {
      const sandbox = current.get(connection.sandbox.address)
      if (isSameRun(sandbox, connection.sandbox) && connection.adopt(sandbox)) continue
      this.#end(connection)
    }
  }

  resetAll(): void {
    for (const open of this.#bySandbox.values()) for (const connection of open) this.#end(connection)
  }

  #end(connection: TrackedConnection): void {
    if (this.#bySandbox.get(connection.sandbox.sandboxId)?.has(connection) !== true) return
    this.close(connection)
    connection.reset()
  }
}
