import type { CredentialsApi } from './credentials.ts'
import type { FilesApi } from './files.ts'
import type { HostApi } from './host.ts'
import type { NetworkApi } from './network.ts'
import type { OverviewApi } from './overview.ts'
import type { ProcessesApi } from './processes.ts'
import type { SandboxesApi } from './sandboxes.ts'
import type { SessionApi } from './session.ts'
import type { TeamsApi } from './teams.ts'
import type { TemplatesApi } from './templates.ts'
import type { TimelineApi } from './timeline.ts'
import type { UsageApi } from './usage.ts'
import type { VolumesApi } from './volumes.ts'

/**
 * Every operation under `/dashboard/api`, by `METHOD /path/{param}`. Beside them are `GET /live` (the WebSocket, live/frames.ts) and `wire/*`: any
 * operation of the control plane as the session's team, with the tokens of sandboxes and volumes removed from answers.
 */
export interface DashboardApi
  extends
    SessionApi,
    OverviewApi,
    SandboxesApi,
    TimelineApi,
    FilesApi,
    ProcessesApi,
    NetworkApi,
    TemplatesApi,
    CredentialsApi,
    TeamsApi,
    UsageApi,
    HostApi,
    VolumesApi {}

export type DashboardOperation = keyof DashboardApi
