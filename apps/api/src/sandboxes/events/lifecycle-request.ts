import { LIFECYCLE_TYPES, type LifecycleEventsQuery } from '@sandyard/api-contract/events/sandbox-event'
import type { LifecycleRequest } from './lifecycle-events.ts'

/** The query with its defaults. */
export function toLifecycleRequest(teamId: string, query: LifecycleEventsQuery): LifecycleRequest {
  const { offset = 0, limit = 10, orderAsc = false, types = LIFECYCLE_TYPES } = query
  return { teamId, offset, limit, isAscending: orderAsc, types: [types].flat() }
}
