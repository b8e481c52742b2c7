import { readFile } from 'node:fs/promises'
import { parseFlatKeyed } from '../metrics/control-group.ts'
import type { LogRing } from './log-ring.ts'

/** Where control groups v2 and v1 count the processes that the kernel has killed for lack of memory. */
const COUNTERS = ['memory.events', 'memory/memory.oom_control']

/** Logs how many processes the kernel has killed because the container reached its memory limit. The kernel counts every process of the container. */
export class OutOfMemoryWatch {
  readonly #folder: string
  readonly #ring: LogRing
  /** The kernel counts from the container's start, which is that of this process. */
  #logged = 0

  /** @param folder `/sys/fs/cgroup` */
  constructor(folder: string, ring: LogRing) {
    this.#folder = folder
    this.#ring = ring
  }

  /** Logs what the kernel has counted since the last call. Does nothing where the kernel does not count. */
  async check(): Promise<void> {
    const killed = await this.#count()
    const more = killed - this.#logged
    if (more <= 0) return
    this.#logged = killed
    const message = 'Out of memory: the kernel killed processes'
    this.#ring.append({ level: 'error', message, fields: { logger: 'memory', killed: more } })
  }

  async #count(): Promise<number> {
    for (const name of COUNTERS) {
      const text = await readFile(`${this.#folder}/${name}`, 'utf8').catch(() => undefined)
      const count = text === undefined ? undefined : parseFlatKeyed(text).get('oom_kill')
      if (count !== undefined && Number.isSafeInteger(count)) return count
    }
    return this.#logged
  }
}
