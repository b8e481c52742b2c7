import { AppError } from '@sandyard/kit/errors/app-error'
import type { ProcessSelector } from '@sandyard/daemon-protocol/process/process_pb'
import type { EndEvent } from './end-event.ts'
import type { ManagedProcess } from './managed-process.ts'

/** How long the end of a process is stored (envd.md 8.7). */
const RETENTION_MS = 30_000

export interface RetainedEnd {
  readonly pid: number
  readonly tag: string | undefined
  readonly end: EndEvent
}

type Selection = ProcessSelector | undefined

/** The live processes that the daemon started, and for a limited time the end events of processes that have ended (envd.md 8.8). */
export class ProcessTable {
  readonly #live = new Map<number, ManagedProcess>()
  readonly #retained = new Map<RetainedEnd, NodeJS.Timeout>()

  /** A new process with the pid or the tag of an ended one takes its place, so that its clients do not get the old end. */
  add(process: ManagedProcess): void {
    this.#live.set(process.pid, process)
    for (const [retained, timer] of this.#retained) {
      if (retained.pid !== process.pid && (process.tag === undefined || retained.tag !== process.tag)) continue
      clearTimeout(timer)
      this.#retained.delete(retained)
    }
  }

  /** Moves a process from the live ones to the ends. */
  retire(process: ManagedProcess, end: EndEvent): void {
    // The kernel may have given the pid to a newer process while others held the output of this one.
    if (this.#live.get(process.pid) === process) this.#live.delete(process.pid)
    const retained = { pid: process.pid, tag: process.tag, end }
    this.#retained.set(retained, setTimeout(() => this.#retained.delete(retained), RETENTION_MS).unref())
  }

  list(): ManagedProcess[] {
    return [...this.#live.values()]
  }

  /**
   * The live process with the pid, or the newest with the tag.
   *
   * @throws AppError `not_found`; `unimplemented` for a selector without pid and tag
   */
  get(selector: Selection): ManagedProcess {
    const selection = selector?.selector
    switch (selection?.case) {
      case 'pid':
        return this.#live.get(selection.value) ?? notFound(`pid ${selection.value}`)
      case 'tag':
        return [...this.#live.values()].findLast(({ tag }) => tag === selection.value) ?? notFound(`tag ${selection.value}`)
      case undefined:
        throw new AppError('unimplemented', 'invalid input type *process.ProcessSelector')
    }
  }

  /** The stored end of a process that is no longer live. */
  findRetained(selector: Selection): RetainedEnd | undefined {
    const selection = selector?.selector
    if (selection?.case === undefined) return undefined
    return [...this.#retained.keys()].findLast((retained) => retained[selection.case] === selection.value)
  }
}

function notFound(selected: string): never {
  throw new AppError('not_found', `process with ${selected} not found`)
}
