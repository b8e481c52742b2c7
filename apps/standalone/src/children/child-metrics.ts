import { Counter, Gauge, type Registry } from 'prom-client'
import type { Program } from './child-program.ts'

interface ChildMetrics {
  readonly restarts: Counter
  readonly up: Gauge
}

/** What the server says about the process of a program that it keeps running. */
export function createChildMetrics(registry: Registry, { name, title }: Pick<Program, 'name' | 'title'>): ChildMetrics {
  return {
    restarts: new Counter({
      name: `sandyard_${name}_restarts_total`,
      help: `How often the process of ${title} ended and was started again.`,
      registers: [registry],
    }),
    up: new Gauge({
      name: `sandyard_${name}_up`,
      help: `Whether the process of ${title} answered the last request for its metrics.`,
      registers: [registry],
    }),
  }
}
