import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { MAX_JOB_ITEMS } from './limits.ts'
import { instant, oneOf, pageQuery, sandboxId, search, uuid } from './request-fields.ts'

export const LIST_STATES = ['running', 'paused', 'starting', 'ending', 'ended'] as const
export type ListState = (typeof LIST_STATES)[number]

const filter = {
  /** Joined by commas. Default: all but `ended`. */
  state: Type.Optional(Type.String({ pattern: '^(running|paused|starting|ending|ended)(,(running|paused|starting|ending|ended)){0,4}$' })),
  /** A part of an id, an alias or a template name; `key=value` is one pair of metadata. */
  search,
  /** A name or an id, without a tag. */
  template: Type.Optional(Type.String({ maxLength: 256 })),
  /** As in `GET /v2/sandboxes`: percent-encoded pairs, joined by `&`. */
  metadata: Type.Optional(Type.String({ maxLength: 4096 })),
  startedAfter: Type.Optional(instant),
  startedBefore: Type.Optional(instant),
  keyId: Type.Optional(uuid),
  minCpu: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
  minMemoryMib: Type.Optional(Type.Integer({ minimum: 0, maximum: 16_777_216 })),
}

/** Which sandboxes: also the text after `sandboxes?` of the live topic, and the `match` of a bulk action. */
export const SandboxFilter = Type.Object(filter, { additionalProperties: false })
export type SandboxFilter = Static<typeof SandboxFilter>

export const ListSandboxesQuery = Type.Object(
  {
    ...filter,
    ...pageQuery,
    sort: Type.Optional(oneOf(['started', 'expires', 'template', 'state', 'ended'])),
    order: Type.Optional(oneOf(['asc', 'desc'])),
  },
  { additionalProperties: false },
)
export type ListSandboxesQuery = Static<typeof ListSandboxesQuery>

/** Who or what did something. `label` is for people: the name of a key, of a user, or a sentence such as "end time reached". */
export interface ActorView {
  readonly kind: 'key' | 'user' | 'admin' | 'timeout' | 'traffic' | 'server' | 'unknown'
  readonly id?: string
  readonly label: string
  /** It was done in the dashboard. */
  readonly viaDashboard?: boolean
}

export interface EndView {
  readonly at: Instant
  /** The stored code: `timeout`, `request`, `out_of_memory`, `engine_gone`, `orphan`, ... */
  readonly reason: string
  /** The sentence that people read. Never empty. */
  readonly text: string
  readonly actor: ActorView
}

export interface SandboxRow {
  readonly sandboxId: string
  readonly state: ListState
  readonly alias: string | null
  readonly templateId: string
  /** The name with its namespace, or the id. */
  readonly templateName: string
  readonly buildId: string
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  readonly startedAt: Instant | null
  /** When it is paused or killed; null while paused or ended. */
  readonly endsAt: Instant | null
  readonly pausesAtEnd: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly createdBy: ActorView
  readonly end: EndView | null
}

export interface SandboxCounts {
  readonly running: number
  readonly paused: number
  readonly starting: number
  readonly limit: number
}

export interface SandboxList extends Page<SandboxRow> {
  readonly counts: SandboxCounts
  /** How many match the filter; at most 10,000 are counted. */
  readonly matching: number
}

export interface SandboxDetail extends SandboxRow {
  readonly isSecure: boolean
  readonly network: NetworkView
  readonly ports: readonly number[]
  /** The snapshot or sandbox that it was made from. */
  readonly parent: { readonly kind: 'snapshot' | 'fork'; readonly id: string } | null
  readonly volumes: readonly { readonly name: string; readonly path: string; readonly isReadOnly: boolean }[]
  /** Ended: until when it can be read. */
  readonly keptUntil: Instant | null
  /** Whether the daemon can be asked: it runs. Looking never wakes it. */
  readonly isReachable: boolean
}

/** Without secrets: names of headers and users only. */
export interface NetworkView {
  readonly allowInternetAccess: boolean
  readonly allowPublicTraffic: boolean
  readonly allowOut: readonly string[]
  readonly denyOut: readonly string[]
  readonly dnsServers: readonly string[]
  readonly proxyAddress: string | null
  readonly rules: readonly { readonly host: string; readonly headerNames: readonly string[] }[]
}

/** Bulk actions. `ids` or `match`; `match` is resolved once, when the job is made. */
export const NewJobBody = Type.Object(
  {
    action: oneOf(['kill', 'pause', 'resume', 'extend']),
    ids: Type.Optional(Type.Array(sandboxId, { minItems: 1, maxItems: MAX_JOB_ITEMS, uniqueItems: true })),
    match: Type.Optional(SandboxFilter),
    /** `extend`: added to the end time. */
    seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    /** The page's own UUID: the same one again answers with the same job. */
    requestId: uuid,
  },
  { additionalProperties: false },
)
export type NewJobBody = Static<typeof NewJobBody>

export interface JobItem {
  readonly sandboxId: string
  readonly status: 'waiting' | 'done' | 'failed' | 'skipped'
  readonly message: string | null
}

export interface Job {
  readonly jobId: string
  readonly action: NewJobBody['action']
  readonly status: 'running' | 'done'
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly createdAt: Instant
  readonly items: readonly JobItem[]
}

export const JobParams = Type.Object({ jobId: uuid })

export interface SandboxesApi {
  'GET /sandboxes': { query: ListSandboxesQuery; answer: SandboxList }
  /** Also ended ones that are still kept. 404 for those of other teams. */
  'GET /sandboxes/{sandboxId}': { params: { sandboxId: string }; answer: SandboxDetail }
  'POST /jobs': { body: NewJobBody; answer: Job }
  'GET /jobs/{jobId}': { params: { jobId: string }; answer: Job }
}
