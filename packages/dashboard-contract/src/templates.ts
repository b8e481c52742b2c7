import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { oneOf, pageQuery, search, templateId, uuid } from './request-fields.ts'
import type { ActorView } from './sandboxes.ts'

export const ListTemplatesQuery = Type.Object(
  {
    ...pageQuery,
    search,
    sort: Type.Optional(oneOf(['name', 'created', 'updated', 'used'])),
    order: Type.Optional(oneOf(['asc', 'desc'])),
  },
  { additionalProperties: false },
)
export type ListTemplatesQuery = Static<typeof ListTemplatesQuery>

export interface TemplateRow {
  readonly templateId: string
  readonly names: readonly string[]
  readonly isPublic: boolean
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  readonly newestBuild: { readonly buildId: string; readonly status: BuildState; readonly at: Instant } | null
  readonly buildCount: number
  readonly spawnCount: number
  readonly lastUsedAt: Instant | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly createdBy: ActorView | null
}

export type BuildState = 'waiting' | 'building' | 'ready' | 'failed'

export const ListBuildsQuery = Type.Object(
  { ...pageQuery, template: Type.Optional(templateId), status: Type.Optional(Type.String({ pattern: '^[a-z]+(,[a-z]+){0,3}$' })) },
  { additionalProperties: false },
)
export type ListBuildsQuery = Static<typeof ListBuildsQuery>

export interface BuildRow {
  readonly buildId: string
  readonly templateId: string
  readonly templateName: string
  readonly status: BuildState
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly tags: readonly string[]
  readonly reason: BuildReason | null
}

export interface BuildReason {
  readonly message: string
  /** `base`, the number of a step from 1, or `finalize`. */
  readonly step: string | null
}

export interface BuildStep {
  readonly step: string
  /** The instruction, such as `RUN npm ci`. */
  readonly text: string
  /** Skipped: the build failed before it. */
  readonly status: 'waiting' | 'running' | 'cached' | 'done' | 'failed' | 'skipped'
  readonly startedAt: Instant | null
  readonly durationMs: number | null
}

export interface BuildDetail extends BuildRow {
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  readonly steps: readonly BuildStep[]
  /** The last 20 lines of the failing step. */
  readonly failingLines: readonly BuildLine[]
  /** Null for images that this server did not build from a Dockerfile. */
  readonly dockerfile: string | null
  readonly startCommand: string | null
  readonly canCancel: boolean
  readonly canRebuild: boolean
}

export interface BuildLine {
  /** From 1, without gaps. */
  readonly number: number
  readonly at: Instant
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly step: string | null
  readonly text: string
}

export const BuildLinesQuery = Type.Object(
  { after: Type.Optional(Type.Integer({ minimum: 0 })), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 })) },
  { additionalProperties: false },
)
export type BuildLinesQuery = Static<typeof BuildLinesQuery>

export const BuildParams = Type.Object({ buildId: uuid })

/** One template, its tags and their history, visibility, deletion, registration: `wire` (`/templates/...`, `/v2/templates/...`). */
export interface TemplatesApi {
  'GET /templates': { query: ListTemplatesQuery; answer: Page<TemplateRow> }
  'GET /templates/{templateId}': { params: { templateId: string }; answer: TemplateRow }
  'GET /builds': { query: ListBuildsQuery; answer: Page<BuildRow> }
  'GET /builds/{buildId}': { params: { buildId: string }; answer: BuildDetail }
  /** Lines in order; the last number is the next `after`. */
  'GET /builds/{buildId}/lines': {
    params: { buildId: string }
    query: BuildLinesQuery
    answer: { lines: readonly BuildLine[]; hasMore: boolean }
  }
  /** 409 for a finished build. */
  'POST /builds/{buildId}/cancel': { params: { buildId: string }; answer: BuildDetail }
  /** A new build of the same instructions; 409 for one whose instructions are not kept. */
  'POST /builds/{buildId}/rebuild': { params: { buildId: string }; answer: { templateId: string; buildId: string } }
}
