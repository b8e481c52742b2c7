import type { LimitName } from '@sandyard/api/teams/team-limits'
import { parseDurationMs, parseSizeBytes } from '@sandyard/kit/config/units'

const MIB = 1024 ** 2
const MOST = 1_000_000
const DAY_SECONDS = 86_400

export interface Limit {
  readonly limit: LimitName
  readonly argument: string
  readonly doc: string
  readonly read: (text: string) => number | undefined
}

/** Of an option: the limit of the server's settings. */
export const DEFAULT = 'default'

/** By the name of the option. */
export const LIMITS: Readonly<Record<string, Limit>> = {
  sandboxes: { limit: 'concurrentSandboxes', argument: '<n>', doc: 'sandboxes at once', read: readCount },
  paused: { limit: 'maxPausedSandboxes', argument: '<n>', doc: 'sandboxes that are paused, or will be at their end time', read: readCount },
  lifetime: { limit: 'maxLifetimeSeconds', argument: '<time>', doc: 'longest lifetime of a sandbox, such as 2h', read: readSeconds },
  creates: { limit: 'createsPerMinute', argument: '<n>', doc: 'creates and forks in a minute', read: readCount },
  burst: { limit: 'createBurst', argument: '<n>', doc: 'creates and forks that may come at once', read: readCount },
  snapshots: { limit: 'maxSnapshots', argument: '<n>', doc: 'snapshots', read: readCount },
  templates: { limit: 'maxTemplates', argument: '<n>', doc: 'templates', read: readCount },
  builds: { limit: 'concurrentBuilds', argument: '<n>', doc: 'registered and running builds at once', read: readCount },
  cpus: { limit: 'maxCpuCount', argument: '<n>', doc: 'most processors of a template', read: readCount },
  memory: { limit: 'maxMemoryMib', argument: '<size>', doc: 'most memory of a template, such as 4GiB', read: readMib },
  disk: { limit: 'maxDiskMib', argument: '<size>', doc: 'largest disk that a template may ask for, such as 20GiB', read: readMib },
  stored: { limit: 'maxStoredBytes', argument: '<size>', doc: 'volumes and uploads together, such as 500GiB', read: readBytes },
}

function readCount(text: string): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= MOST ? Number(text) : undefined
}

function readSeconds(text: string): number | undefined {
  const seconds = Math.floor((parseDurationMs(text) ?? 0) / 1000)
  return seconds >= 1 && seconds <= DAY_SECONDS ? seconds : undefined
}

function readMib(text: string): number | undefined {
  const mib = Math.floor((parseSizeBytes(text) ?? 0) / MIB)
  return mib >= 1 && mib <= MOST ? mib : undefined
}

function readBytes(text: string): number | undefined {
  const bytes = parseSizeBytes(text) ?? 0
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined
}
