import { accessTokenColumns, type AccessTokenTable } from './access-token.ts'
import { apiKeyColumns, type ApiKeyTable } from './api-key.ts'
import { appUserColumns, type AppUserTable } from './app-user.ts'
import { buildColumns, type BuildTable } from './build.ts'
import { eventColumns, type EventTable } from './event.ts'
import { idempotencyKeyColumns, type IdempotencyKeyTable } from './idempotency-key.ts'
import { sandboxColumns, type SandboxTable } from './sandbox.ts'
import { serverSettingColumns, type ServerSettingTable } from './server-setting.ts'
import { tagAssignmentColumns, type TagAssignmentTable } from './tag-assignment.ts'
import { teamColumns, type TeamTable } from './team.ts'
import { teamMemberColumns, type TeamMemberTable } from './team-member.ts'
import { templateColumns, type TemplateTable } from './template.ts'
import { templateAliasColumns, type TemplateAliasTable } from './template-alias.ts'

/** Every table, under its name in Postgres. */
export interface Tables {
  access_token: AccessTokenTable
  api_key: ApiKeyTable
  app_user: AppUserTable
  build: BuildTable
  event: EventTable
  idempotency_key: IdempotencyKeyTable
  sandbox: SandboxTable
  server_setting: ServerSettingTable
  tag_assignment: TagAssignmentTable
  team: TeamTable
  team_member: TeamMemberTable
  template: TemplateTable
  template_alias: TemplateAliasTable
}

/** What the drift test compares with a migrated database. */
export const tableColumns: { readonly [K in keyof Tables]: Readonly<Record<keyof Tables[K], string>> } = {
  access_token: accessTokenColumns,
  api_key: apiKeyColumns,
  app_user: appUserColumns,
  build: buildColumns,
  event: eventColumns,
  idempotency_key: idempotencyKeyColumns,
  sandbox: sandboxColumns,
  server_setting: serverSettingColumns,
  tag_assignment: tagAssignmentColumns,
  team: teamColumns,
  team_member: teamMemberColumns,
  template: templateColumns,
  template_alias: templateAliasColumns,
}
