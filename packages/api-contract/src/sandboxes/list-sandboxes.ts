import { Type, type Static } from 'typebox'
import { pagingQuery } from '../paging.ts'

const metadata = Type.Optional(
  Type.String({ description: 'Pairs that must all match, each key and value percent-encoded, as a query string' }),
)

/** Query of `GET /sandboxes`. */
export const ListSandboxesV1Query = Type.Object({ metadata })
export type ListSandboxesV1Query = Static<typeof ListSandboxesV1Query>

/** Query of `GET /v2/sandboxes` (control-plane.md 6.3.2). */
export const ListSandboxesV2Query = Type.Object({
  metadata,
  state: Type.Optional(
    Type.String({ pattern: '^(running|paused)(,(running|paused))*$', description: 'States to list, joined by commas; all when absent' }),
  ),
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'], default: 'desc', description: 'By start time' }),
  ),
  startedAfter: Type.Optional(Type.String({ format: 'date-time', description: 'Inclusive' })),
  template: Type.Optional(Type.String({ description: 'A template reference without a tag' })),
  ...pagingQuery,
})
export type ListSandboxesV2Query = Static<typeof ListSandboxesV2Query>
