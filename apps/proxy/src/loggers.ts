import type { Logger } from '@sandyard/kit/logging/create-logger'

export interface ProxyLoggers {
  /** Requests, upgrades and what clients got wrong. */
  readonly traffic: Logger
  /** The catalog and the connections that it ends. */
  readonly routes: Logger
}

export function createLoggers(log: Logger): ProxyLoggers {
  return { traffic: log.child({ part: 'proxy.traffic' }), routes: log.child({ part: 'proxy.routes' }) }
}
