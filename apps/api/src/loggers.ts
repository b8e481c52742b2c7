import type { Logger } from '@sandyard/kit/logging/create-logger'

/** Every named logger of the control plane. */
export interface ApiLoggers {
  readonly http: Logger
  /** Who asked for changes. */
  readonly audit: Logger
  readonly auth: Logger
  readonly database: Logger
  readonly sandboxes: Logger
  readonly builds: Logger
}

export function createApiLoggers(root: Logger): ApiLoggers {
  const child = (part: string): Logger => root.child({ part: `api.${part}` })
  return {
    http: child('http'),
    audit: child('audit'),
    auth: child('auth'),
    database: child('database'),
    sandboxes: child('sandboxes'),
    builds: child('builds'),
  }
}
