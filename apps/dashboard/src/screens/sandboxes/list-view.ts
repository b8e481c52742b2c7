import type { ListSandboxesQuery, ListState, SandboxFilter } from '@sandyard/dashboard-contract/sandboxes'

/** Which sandboxes are shown and how. All of it is in the URL, so that a reload, a bookmark and a sent link show the same. */
export interface ListView {
  readonly states: readonly ListState[]
  readonly search: string
  readonly template: string
  readonly metadata: readonly (readonly [string, string])[]
  readonly since: Since | ''
  readonly keyId: string
  readonly minCpu: number | undefined
  readonly minMemoryMib: number | undefined
  readonly sort: NonNullable<ListSandboxesQuery['sort']>
  readonly order: 'asc' | 'desc'
}

export const STATES: readonly ListState[] = ['running', 'paused', 'starting', 'ending', 'ended']
export const LIVE_STATES: readonly ListState[] = ['running', 'paused', 'starting', 'ending']
const MINUTE_MS = 60_000
const SINCE_MS = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '24h': 1440 * MINUTE_MS,
  '7d': 10_080 * MINUTE_MS,
} as const
export type Since = keyof typeof SINCE_MS
export const SINCES = Object.keys(SINCE_MS) as readonly Since[]
const SORTS = ['started', 'expires', 'template', 'state', 'ended'] as const
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const MAX_PAIRS = 16

export const DEFAULT_VIEW: ListView = {
  states: LIVE_STATES,
  search: '',
  template: '',
  metadata: [],
  since: '',
  keyId: '',
  minCpu: undefined,
  minMemoryMib: undefined,
  sort: 'started',
  order: 'desc',
}

/** The view of a URL. What it does not understand is left out: a link of another version still opens. */
export function readView(query: Readonly<Record<string, string | undefined>>): ListView {
  const wanted = query['state']?.split(',') ?? []
  const states = STATES.filter((state) => wanted.includes(state))
  return {
    states: states.length === 0 ? LIVE_STATES : states,
    search: query['search']?.slice(0, 256) ?? '',
    template: query['template']?.slice(0, 256) ?? '',
    metadata: [...new URLSearchParams(query['metadata'] ?? '')].slice(0, MAX_PAIRS),
    since: SINCES.find((since) => since === query['since']) ?? '',
    keyId: UUID.test(query['keyId'] ?? '') ? (query['keyId'] ?? '') : '',
    minCpu: readCount(query['minCpu']),
    minMemoryMib: readCount(query['minMemoryMib']),
    sort: SORTS.find((sort) => sort === query['sort']) ?? DEFAULT_VIEW.sort,
    order: query['order'] === 'asc' ? 'asc' : 'desc',
  }
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,8}$/.test(text) && Number(text) > 0 ? Number(text) : undefined
}

/** The part of the URL after `?`, without what is as it is by default; empty for the default view. */
export function viewText(view: ListView): string {
  const entries: (readonly [string, string | undefined])[] = [
    ['state', isSame(view.states, LIVE_STATES) ? undefined : STATES.filter((state) => view.states.includes(state)).join(',')],
    ['search', view.search],
    ['template', view.template],
    ['metadata', metadataText(view.metadata)],
    ['since', view.since],
    ['keyId', view.keyId],
    ['minCpu', view.minCpu?.toString()],
    ['minMemoryMib', view.minMemoryMib?.toString()],
    ['sort', view.sort === DEFAULT_VIEW.sort ? undefined : view.sort],
    ['order', view.order === DEFAULT_VIEW.order ? undefined : view.order],
  ]
  return new URLSearchParams(entries.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]))).toString()
}

function isSame(one: readonly ListState[], other: readonly ListState[]): boolean {
  return one.length === other.length && other.every((state) => one.includes(state))
}

function metadataText(pairs: ListView['metadata']): string {
  return pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&')
}

/** The filter for the server. `since` becomes an instant, on the minute, so that equal views are equal topics. */
export function toFilter(view: ListView, nowMs: number): SandboxFilter {
  return {
    state: STATES.filter((state) => view.states.includes(state)).join(','),
    ...(view.search !== '' && { search: view.search }),
    ...(view.template !== '' && { template: view.template }),
    ...(view.metadata.length > 0 && { metadata: metadataText(view.metadata) }),
    ...(view.since !== '' && {
      startedAfter: new Date(Math.floor((nowMs - SINCE_MS[view.since]) / MINUTE_MS) * MINUTE_MS).toISOString(),
    }),
    ...(view.keyId !== '' && { keyId: view.keyId }),
    ...(view.minCpu !== undefined && { minCpu: view.minCpu }),
    ...(view.minMemoryMib !== undefined && { minMemoryMib: view.minMemoryMib }),
  }
}

/** The query of `GET /sandboxes`, and of the live topic. */
export function toQuery(view: ListView, nowMs: number, limit: number): ListSandboxesQuery {
  return { ...toFilter(view, nowMs), sort: view.sort, order: view.order, limit }
}

/** A click on the heading of a column: this column, or the other way round. */
export function sortBy(view: ListView, by: string): ListView {
  const sort = SORTS.find((name) => name === by)
  if (sort === undefined) return view
  if (view.sort === sort) return { ...view, order: view.order === 'asc' ? 'desc' : 'asc' }
  return { ...view, sort, order: sort === 'started' || sort === 'ended' ? 'desc' : 'asc' }
}
