import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { cpus, machine } from 'node:os'
import { join } from 'node:path'
import type { ServerVitals } from '@sandyard/db/schema/server'

const ROOT = join(import.meta.dirname, '../../../..')
const UNKNOWN = 'unknown'
const KIB = 1024

/** The processor of this host. */
export function readMachine(): NonNullable<ServerVitals['machine']> {
  const info = textOf('/proc/cpuinfo')
  const field = (name: string): string => new RegExp(`^${name}\\s*: (.+)$`, 'm').exec(info)?.[1]?.trim() ?? UNKNOWN
  const modelName = cpus()[0]?.model ?? UNKNOWN
  return { family: field('cpu family'), model: field('model'), modelName, architecture: machine() }
}

/** The commit of a checkout; undefined elsewhere. */
export function readCommit(): string | undefined {
  const head = textOf(join(ROOT, '.git/HEAD')).trim()
  const reference = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1]
  const commit = reference === undefined ? head : textOf(join(ROOT, '.git', reference)).trim()
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Undefined on hosts without huge pages. */
export async function readHugePages(): Promise<ServerVitals['hugePages']> {
  const info = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const field = (name: string): number | undefined => {
    const text = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(info)?.[1]
    return text === undefined ? undefined : Number(text)
  }
  const [total, free, reserved, pageKib] = ['HugePages_Total', 'HugePages_Free', 'HugePages_Rsvd', 'Hugepagesize'].map(field)
  if (total === undefined || free === undefined || reserved === undefined || pageKib === undefined) return undefined
  return { total, used: total - free, reserved, pageBytes: pageKib * KIB }
}

/** What the processors of this host have done since it started, in milliseconds. */
export interface ProcessorTimes {
  readonly busy: number
  readonly all: number
}

export function readProcessorTimes(): ProcessorTimes {
  const times = cpus().map((cpu) => cpu.times)
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { busy: all - times.reduce((sum, { idle }) => sum + idle, 0), all }
}

/** The share of the processors that was used between two readings: 0 to 100. Undefined without time between them. */
export function processorPercent(from: ProcessorTimes, to: ProcessorTimes): number | undefined {
  const all = to.all - from.all
  return all <= 0 ? undefined : Math.round(Math.min(1, Math.max(0, (to.busy - from.busy) / all)) * 100)
}
