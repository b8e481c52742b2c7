export interface CpuSample {
  readonly cpuNanoseconds: number
  /** Of a monotonic clock. */
  readonly atMs: number
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000

/** CPU use of the container between samples. */
export class CpuUse {
  /** The kernel counts from the container's start, which is that of this process. */
  #last: CpuSample = { cpuNanoseconds: 0, atMs: 0 }

  /** Percent of all `cpus` since the sample before, 0 to 100, rounded to 2 decimals (envd.md 5.3). */
  next(sample: CpuSample, cpus: number): number {
    const elapsed = (sample.atMs - this.#last.atMs) * NANOSECONDS_PER_MILLISECOND * cpus
    const used = sample.cpuNanoseconds - this.#last.cpuNanoseconds
    this.#last = sample
    if (elapsed <= 0) return 0
    // A quota is enforced per period, so a short interval may exceed it.
    const percent = Math.min(100, Math.max(0, (100 * used) / elapsed))
    return Math.round(percent * 100) / 100
  }
}
