import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ContextList } from './contexts/context-list.ts'

/** What routes need. */
export interface ServerContext {
  readonly contexts: ContextList
  readonly daemonUrl: string
  readonly log: Logger
}
