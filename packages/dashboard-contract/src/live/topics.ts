import type { FileEntry } from '../files.ts'
import type { HealthReport, HostView } from '../host.ts'
import type { EgressDecision } from '../network.ts'
import type { EventView } from '../overview.ts'
import type { TerminalView } from '../processes.ts'
import type { Job, ListSandboxesQuery, SandboxCounts, SandboxDetail, SandboxList, SandboxRow } from '../sandboxes.ts'
import type { BuildDetail, BuildLine, BuildRow } from '../templates.ts'

/** The latest sample of a sandbox. */
export interface MetricSample {
  /** Unix milliseconds. */
  readonly at: number
  readonly cpuPct: number
  readonly memoryUsedBytes: number
  readonly memoryCacheBytes: number
  readonly memoryTotalBytes: number
  readonly diskUsedBytes: number
  readonly diskTotalBytes: number
}

export interface LogLine {
  /** Grows; unique in the sandbox. */
  readonly id: string
  /** Unix milliseconds. */
  readonly at: number
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
  readonly fields: Readonly<Record<string, string>>
}

/** By the name of the topic: what comes before `?` or `:`. Each topic starts with a snapshot; then patches. */
export interface Topics {
  /** `sandboxes?<query of GET /sandboxes>`: the first page. Rows outside it are not patched. */
  sandboxes: {
    snapshot: SandboxList
    patch: {
      readonly rows?: readonly SandboxRow[]
      readonly removed?: readonly string[]
      readonly counts?: SandboxCounts
      readonly matching?: number
    }
  }
  /** `sandbox:<id>`; each patch is the whole. */
  sandbox: { snapshot: SandboxDetail; patch: SandboxDetail }
  /** `metrics:<id>,<id>,...`, at most `MAX_METRIC_SANDBOXES`. Sandboxes that do not run are absent. */
  metrics: { snapshot: Readonly<Record<string, MetricSample>>; patch: Readonly<Record<string, MetricSample>> }
  /** `builds`: the newest 50 of the team. */
  builds: { snapshot: { readonly rows: readonly BuildRow[] }; patch: { readonly rows: readonly BuildRow[] } }
  /** `build:<id>`: at the start the last 1,000 lines; older ones by `GET /builds/{buildId}/lines`. */
  build: {
    snapshot: { readonly build: BuildDetail; readonly lines: readonly BuildLine[] }
    patch: { readonly build?: BuildDetail; readonly lines?: readonly BuildLine[] }
  }
  /** `logs:<id>`: at the start the last 1,000 lines; older ones by the wire (`/v2/sandboxes/{id}/logs`). */
  logs: { snapshot: { readonly lines: readonly LogLine[] }; patch: { readonly lines: readonly LogLine[] } }
  /** `events`: the newest 50 of the team, oldest first. */
  events: { snapshot: { readonly events: readonly EventView[] }; patch: { readonly events: readonly EventView[] } }
  /** `watch:<id>:<absolute path>`: one folder, not below. `isLost`: list again. */
  watch: {
    snapshot: Record<string, never>
    patch: {
      readonly isLost?: true
      readonly changes?: readonly {
        readonly kind: 'create' | 'write' | 'remove' | 'rename' | 'chmod'
        readonly name: string
        readonly entry?: FileEntry
      }[]
    }
  }
  /** `egress:<id>`: the newest 100 decisions; a patch replaces those with the same id. */
  egress: { snapshot: { readonly decisions: readonly EgressDecision[] }; patch: { readonly decisions: readonly EgressDecision[] } }
  /** `terminals:<id>`; each patch is the whole. */
  terminals: { snapshot: { readonly data: readonly TerminalView[] }; patch: { readonly data: readonly TerminalView[] } }
  /** `job:<id>`; each patch is the whole. */
  job: { snapshot: Job; patch: Job }
  /** `host`: operators only. */
  host: {
    snapshot: { readonly host: HostView; readonly health: HealthReport }
    patch: { readonly host?: HostView; readonly health?: HealthReport }
  }
}

export type TopicName = keyof Topics

/** The text of a topic: its name alone, or with `?query` or `:argument`. */
export type TopicText<Name extends TopicName> = Name extends 'builds' | 'events' | 'host'
  ? Name
  : Name extends 'sandboxes'
    ? 'sandboxes' | `sandboxes?${string}`
    : `${Name}:${string}`

export type SandboxesTopicQuery = Omit<ListSandboxesQuery, 'cursor'>
