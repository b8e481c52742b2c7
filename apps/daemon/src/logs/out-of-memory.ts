import { parseFlatKeyed } from '../metrics/control-group.ts'
import type { KeptFiles } from '../metrics/kept-files.ts'
import type { LogRing } from './log-ring.ts'

/** Where control groups v2 and v1 count the processes that the kernel has killed for lack of memory. */
const COUNTERS = ['memory.events', 'memory/memory.oom_control']

/** Logs how many processes the kernel has killed because the container reached its memory limit. The kernel counts every process of the container. */
export class OutOfMemoryWatch {
  readonly #folder: string
  readonly #ring: LogRing
  readonly #files: KeptFiles
  /** The one that has counted. Looking for the other one fails each time. */
  #counter: string | undefined
  /** The kernel counts from the container's start, which is that of this process. */
  #logged = 0

  /** @param folder `/sys/fs/cgroup` */
  constructor(folder: string, ring: LogRing, files: KeptFiles) {
    this.#folder = folder
    this.#ring = ring
    this.#files = files
  }

  /** Logs what the kernel has counted since the last call. Does nothing where the kernel does not count. */
  check(): void {
    const killed = this.#count()
    const more = killed - this.#logged
    if (more <= 0) return
    this.#logged = killed
    const message = 'Out of memory: the kernel killed processes'
    this.#ring.append({ level: 'error', message, fields: { logger: 'memory', killed: more } })
  }

  #count(): number {
    for (const name of this.#counter === undefined ? COUNTERS : [this.#counter]) {
      const count = this.#readCount(`${this.#folder}/${name}`)
      if (count === undefined || !Number.isSafeInteger(count)) continue
      this.#counter = name
      return count
    }
    return this.#logged
  }

  /** Undefined where the file is absent or does not have it. */
  #readCount(file: string): number | undefined {
    try {
      return parseFlatKeyed(this.#files.read(file)).get('oom_kill')
    } catch {
      return undefined
    }
  }
}
