import { join } from 'node:path'
import type { Facts } from './facts.ts'
import type { RunningProcess } from './host-reader.ts'

/** The process that the lock of the data directory names; undefined when it has ended. */
export function findServerProcess({ host, machine, settings }: Facts): RunningProcess | undefined {
  const pid = Number(machine.readFile(join(settings.dataDir, 'lock'))?.trim())
  return Number.isInteger(pid) && pid > 0 ? host.findProcess(pid) : undefined
}
