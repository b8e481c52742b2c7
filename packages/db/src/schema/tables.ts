import { accessTokenColumns, type AccessTokenTable } from './access-token.ts'
import { apiKeyColumns, type ApiKeyTable } from './api-key.ts'
import { appUserColumns, type AppUserTable } from './app-user.ts'
import { auditColumns, type AuditTable } from './audit.ts'
import { buildColumns, type BuildTable } from './build.ts'
import { buildJobColumns, type BuildJobTable } from './build-job.ts'
import { buildLayerColumns, type BuildLayerTable } from './build-layer.ts'
import { buildLogColumns, type BuildLogTable } from './build-log.ts'
import { buildPlanColumns, type BuildPlanTable } from './build-plan.ts'
import { buildTurnColumns, type BuildTurnTable } from './build-turn.ts'
import { dashboardJobColumns, dashboardJobItemColumns, type DashboardJobItemTable, type DashboardJobTable } from './dashboard-job.ts'
import {
  dashboardLoginCodeColumns,
  dashboardSessionColumns,
  type DashboardLoginCodeTable,
  type DashboardSessionTable,
} from './dashboard-session.ts'
import { eventColumns, type EventTable } from './event.ts'
import { idempotencyKeyColumns, type IdempotencyKeyTable } from './idempotency-key.ts'
import { layerUploadColumns, type LayerUploadTable } from './layer-upload.ts'
import { parkedSandboxColumns, type ParkedSandboxTable } from './parked-sandbox.ts'
import { poolDemandColumns, type PoolDemandTable } from './pool-demand.ts'
import { readyMadeBuildColumns, type ReadyMadeBuildTable } from './ready-made-build.ts'
import { rememberedAnswerColumns, type RememberedAnswerTable } from './remembered-answer.ts'
import { sandboxColumns, type SandboxTable } from './sandbox.ts'
import { sandboxEgressColumns, type SandboxEgressTable } from './sandbox-egress.ts'
import { sandboxHistoryColumns, type SandboxHistoryTable } from './sandbox-history.ts'
import { sandboxLogColumns, type SandboxLogTable } from './sandbox-log.ts'
import { sandboxLogCursorColumns, type SandboxLogCursorTable } from './sandbox-log-cursor.ts'
import { sandboxMetricColumns, type SandboxMetricTable } from './sandbox-metric.ts'
import { secretColumns, type SecretTable } from './secret.ts'
import { secretVersionColumns, type SecretVersionTable } from './secret-version.ts'
import { serverColumns, type ServerTable } from './server.ts'
import { serverSettingColumns, type ServerSettingTable } from './server-setting.ts'
import { tagAssignmentColumns, type TagAssignmentTable } from './tag-assignment.ts'
import { teamColumns, type TeamTable } from './team.ts'
import { teamMemberColumns, type TeamMemberTable } from './team-member.ts'
import { teamMetricColumns, type TeamMetricTable } from './team-metric.ts'
import { templateColumns, type TemplateTable } from './template.ts'
import { templateAliasColumns, type TemplateAliasTable } from './template-alias.ts'
import { templateSpawnColumns, type TemplateSpawnTable } from './template-spawn.ts'
import {
  terminalRecordingColumns,
  terminalRecordingPartColumns,
  type TerminalRecordingPartTable,
  type TerminalRecordingTable,
} from './terminal-recording.ts'
import { userIdentityColumns, type UserIdentityTable } from './user-identity.ts'
import {
  webhookAttemptColumns,
  webhookColumns,
  webhookDeliveryColumns,
  webhookLateTeamColumns,
  webhookReaderColumns,
  type WebhookAttemptTable,
  type WebhookDeliveryTable,
  type WebhookLateTeamTable,
  type WebhookReaderTable,
  type WebhookTable,
} from './webhook.ts'
import {
  deletedVolumeColumns,
  volumeColumns,
  volumeUploadColumns,
  type DeletedVolumeTable,
  type VolumeTable,
  type VolumeUploadTable,
} from './volume.ts'

/** Every table, under its name in Postgres. */
export interface Tables {
  access_token: AccessTokenTable
  api_key: ApiKeyTable
  app_user: AppUserTable
  audit: AuditTable
  build: BuildTable
  build_job: BuildJobTable
  build_layer: BuildLayerTable
  build_log: BuildLogTable
  build_plan: BuildPlanTable
  build_turn: BuildTurnTable
  dashboard_job: DashboardJobTable
  dashboard_job_item: DashboardJobItemTable
  dashboard_login_code: DashboardLoginCodeTable
  dashboard_session: DashboardSessionTable
  deleted_volume: DeletedVolumeTable
  event: EventTable
  idempotency_key: IdempotencyKeyTable
  layer_upload: LayerUploadTable
  parked_sandbox: ParkedSandboxTable
  pool_demand: PoolDemandTable
  ready_made_build: ReadyMadeBuildTable
  remembered_answer: RememberedAnswerTable
  sandbox: SandboxTable
  sandbox_egress: SandboxEgressTable
  sandbox_history: SandboxHistoryTable
  sandbox_log: SandboxLogTable
  sandbox_log_cursor: SandboxLogCursorTable
  sandbox_metric: SandboxMetricTable
  secret: SecretTable
  secret_version: SecretVersionTable
  server: ServerTable
  server_setting: ServerSettingTable
  tag_assignment: TagAssignmentTable
  team: TeamTable
  team_member: TeamMemberTable
  team_metric: TeamMetricTable
  template: TemplateTable
  template_alias: TemplateAliasTable
  template_spawn: TemplateSpawnTable
  terminal_recording: TerminalRecordingTable
  terminal_recording_part: TerminalRecordingPartTable
  user_identity: UserIdentityTable
  webhook: WebhookTable
  webhook_attempt: WebhookAttemptTable
  webhook_delivery: WebhookDeliveryTable
  webhook_late_team: WebhookLateTeamTable
  webhook_reader: WebhookReaderTable
  volume: VolumeTable
  volume_upload: VolumeUploadTable
}

/** The drift test compares this with a migrated database. */
export const tableColumns: { readonly [K in keyof Tables]: Readonly<Record<keyof Tables[K], string>> } = {
  access_token: accessTokenColumns,
  api_key: apiKeyColumns,
  app_user: appUserColumns,
  audit: auditColumns,
  build: buildColumns,
  build_job: buildJobColumns,
  build_layer: buildLayerColumns,
  build_log: buildLogColumns,
  build_plan: buildPlanColumns,
  build_turn: buildTurnColumns,
  dashboard_job: dashboardJobColumns,
  dashboard_job_item: dashboardJobItemColumns,
  dashboard_login_code: dashboardLoginCodeColumns,
  dashboard_session: dashboardSessionColumns,
  deleted_volume: deletedVolumeColumns,
  event: eventColumns,
  idempotency_key: idempotencyKeyColumns,
  layer_upload: layerUploadColumns,
  parked_sandbox: parkedSandboxColumns,
  pool_demand: poolDemandColumns,
  ready_made_build: readyMadeBuildColumns,
  remembered_answer: rememberedAnswerColumns,
  sandbox: sandboxColumns,
  sandbox_egress: sandboxEgressColumns,
  sandbox_history: sandboxHistoryColumns,
  sandbox_log: sandboxLogColumns,
  sandbox_log_cursor: sandboxLogCursorColumns,
  sandbox_metric: sandboxMetricColumns,
  secret: secretColumns,
  secret_version: secretVersionColumns,
  server: serverColumns,
  server_setting: serverSettingColumns,
  tag_assignment: tagAssignmentColumns,
  team: teamColumns,
  team_member: teamMemberColumns,
  team_metric: teamMetricColumns,
  template: templateColumns,
  template_alias: templateAliasColumns,
  template_spawn: templateSpawnColumns,
  terminal_recording: terminalRecordingColumns,
  terminal_recording_part: terminalRecordingPartColumns,
  user_identity: userIdentityColumns,
  webhook: webhookColumns,
  webhook_attempt: webhookAttemptColumns,
  webhook_delivery: webhookDeliveryColumns,
  webhook_late_team: webhookLateTeamColumns,
  webhook_reader: webhookReaderColumns,
  volume: volumeColumns,
  volume_upload: volumeUploadColumns,
}
