import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'
import type { RuntimeHost } from '@sandyard/runtime/types'

/** The settings of the warm pool. */
export const POOL_SETTINGS = {
  poolMemory: env.share('SANDYARD_POOL_MEMORY', {
    default: 0.1,
    doc: 'share of the memory of the host of the engine, 0 to 1, that sandboxes of the warm pool may take; each counts for an eighth of its limit, at least 64 MiB, or for what it uses where that is more; 0 turns the pool off',
  }),
  poolCpu: env.share('SANDYARD_POOL_CPU', {
    default: 0.5,
    doc: 'share of the processors of that machine, 0 to 1, that starts of sandboxes for the warm pool may take: as many are started at once, at least one; 0 turns the pool off',
  }),
  poolPerTemplate: env.integer('SANDYARD_POOL_PER_TEMPLATE', {
    default: 10,
    doc: 'sandboxes of one template in the warm pool, 0 to 1000; fewer wait while fewer are created; 0 turns the pool off',
  }),
  poolMaxAge: env.duration('SANDYARD_POOL_MAX_AGE', {
    default: 3_600_000,
    doc: 'how long a sandbox waits in the warm pool before another one replaces it, at least 1m',
  }),
} satisfies ConfigSchema

/** What the settings say of the warm pool. */
export interface PoolConfig {
  /** Of the memory of the host. Zero: there is no pool. */
  readonly memoryShare: number
  /** Of its processors. */
  readonly processorShare: number
  readonly perTemplate: number
  readonly maxAgeMs: number
}

/** Bounds of the warm pool on one host. */
export interface PoolBounds {
  /** Zero: there is no pool. */
  readonly memoryMib: number
  /** Starts at once. */
  readonly width: number
  readonly perTemplate: number
  readonly maxAgeMs: number
}

const MAX_PER_TEMPLATE = 1000
const LEAST_AGE_MS = 60_000
const MIB = 1024 ** 2

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkPoolSettings(settings: ConfigOf<typeof POOL_SETTINGS>, problems: string[]): PoolConfig {
  const { poolMemory, poolCpu, poolPerTemplate, poolMaxAge } = settings
  if (poolPerTemplate < 0 || poolPerTemplate > MAX_PER_TEMPLATE)
    problems.push(`SANDYARD_POOL_PER_TEMPLATE must be between 0 and ${MAX_PER_TEMPLATE}`)
  if (poolMaxAge < LEAST_AGE_MS) problems.push('SANDYARD_POOL_MAX_AGE must be at least 1m')
  const isOff = poolCpu === 0 || poolPerTemplate === 0
  return {
    memoryShare: isOff ? 0 : poolMemory,
    processorShare: poolCpu,
    perTemplate: poolPerTemplate,
    maxAgeMs: poolMaxAge,
  }
}

export function poolBounds({ memoryShare, processorShare, ...others }: PoolConfig, host: RuntimeHost): PoolBounds {
  return {
    ...others,
    memoryMib: Math.floor((host.memoryBytes * memoryShare) / MIB),
    width: Math.max(1, Math.floor(host.processors * processorShare)),
  }
}
