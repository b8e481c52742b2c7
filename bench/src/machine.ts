import { cpus, release, totalmem } from 'node:os'

/** The machine of a run. Numbers without it have no meaning. */
export interface Machine {
  readonly date: string
  readonly cpus: number
  readonly model: string | undefined
  readonly memoryMib: number
  readonly kernel: string
  readonly node: string
}

export function describeMachine(): Machine {
  return {
    date: new Date().toISOString(),
    cpus: cpus().length,
    model: cpus()[0]?.model,
    memoryMib: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
  }
}

export function formatMachine({ cpus, model, memoryMib, kernel, node }: Machine): string {
  return `${cpus} x ${model}, ${memoryMib} MiB, Linux ${kernel}, Node ${node}`
}
