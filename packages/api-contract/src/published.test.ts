import type { components } from 'e2b'
import { expectTypeOf, it } from 'vitest'
import type { ErrorBody } from './error-body.ts'
import type { ConnectSandbox, ConnectSandboxV2 } from './sandboxes/lifetime.ts'
import type { NewSandbox, NewSandboxV2 } from './sandboxes/new-sandbox.ts'
import type { ListedSandbox, Sandbox, SandboxDetail } from './sandboxes/sandbox.ts'
import type { SandboxLogs, SandboxLogsV2 } from './sandboxes/sandbox-logs.ts'
import type { SandboxesWithMetrics, SandboxMetric } from './sandboxes/sandbox-metrics.ts'
import type { NewSecret, SecretInfo, SecretUpdate } from './secrets/secret.ts'
import type { Team } from './teams/team.ts'
import type { MaxTeamMetric, TeamMetric } from './teams/team-metrics.ts'
import type { AssignedTemplateTags, AssignTemplateTagsRequest, DeleteTemplateTagsRequest, TemplateTag } from './templates/tags.ts'
import type { Template, TemplateRequestResponseV3 } from './templates/template.ts'
import type { TemplateBuild, TemplateWithBuilds } from './templates/template-with-builds.ts'
import type { TemplateAliasResponse, TemplateUpdateRequest, TemplateUpdateResponse } from './templates/update-template.ts'
import type { NewVolume, Volume, VolumeAndToken } from './volumes/volume.ts'

type Published = components['schemas']

it('returns the types that the published client declares', () => {
  expectTypeOf<Sandbox>().toExtend<Published['Sandbox']>()
  expectTypeOf<ListedSandbox>().toExtend<Published['ListedSandbox']>()
  expectTypeOf<ErrorBody>().toExtend<Published['Error']>()
  // The seed returns an explicit null for fields that the published schema omits.
  expectTypeOf<Omit<SandboxDetail, 'envdAccessToken'>>().toExtend<Omit<Published['SandboxDetail'], 'envdAccessToken'>>()
  expectTypeOf<NonNullable<SandboxDetail['envdAccessToken']>>().toExtend<NonNullable<Published['SandboxDetail']['envdAccessToken']>>()
})

it('returns the types of metrics, logs and teams that the published client declares', () => {
  expectTypeOf<SandboxMetric>().toExtend<Published['SandboxMetric']>()
  expectTypeOf<SandboxesWithMetrics>().toExtend<Published['SandboxesWithMetrics']>()
  expectTypeOf<SandboxLogs>().toExtend<Published['SandboxLogs']>()
  expectTypeOf<SandboxLogsV2>().toExtend<Published['SandboxLogsV2Response']>()
  expectTypeOf<Team>().toExtend<Published['Team']>()
  expectTypeOf<TeamMetric>().toExtend<Published['TeamMetric']>()
  expectTypeOf<MaxTeamMetric>().toExtend<Published['MaxTeamMetric']>()
})

it('returns the template and tag types that the published client declares', () => {
  expectTypeOf<Template>().toExtend<Published['Template']>()
  expectTypeOf<TemplateWithBuilds>().toExtend<Published['TemplateWithBuilds']>()
  expectTypeOf<TemplateBuild>().toExtend<Published['TemplateBuild']>()
  expectTypeOf<TemplateRequestResponseV3>().toExtend<Published['TemplateRequestResponseV3']>()
  expectTypeOf<TemplateUpdateResponse>().toExtend<Published['TemplateUpdateResponse']>()
  expectTypeOf<TemplateAliasResponse>().toExtend<Published['TemplateAliasResponse']>()
  expectTypeOf<AssignedTemplateTags>().toExtend<Published['AssignedTemplateTags']>()
  expectTypeOf<TemplateTag>().toExtend<Published['TemplateTag']>()
})

it('returns the types of volumes that the published client declares', () => {
  expectTypeOf<Volume>().toExtend<Published['Volume']>()
  expectTypeOf<VolumeAndToken>().toExtend<Published['VolumeAndToken']>()
})

it('returns and accepts the secrets that the published client declares', () => {
  expectTypeOf<SecretInfo>().toExtend<Published['Secret']>()
  expectTypeOf<Published['NewSecret']>().toExtend<NewSecret>()
  expectTypeOf<Published['SecretUpdate']>().toExtend<SecretUpdate>()
})

it('accepts the types that the published client sends', () => {
  expectTypeOf<Published['NewVolume']>().toExtend<NewVolume>()
  expectTypeOf<Published['NewSandbox']>().toExtend<NewSandbox>()
  expectTypeOf<Published['NewSandboxV2']>().toExtend<NewSandboxV2>()
  expectTypeOf<Published['ConnectSandbox']>().toExtend<ConnectSandbox>()
  expectTypeOf<Published['ConnectSandboxV2']>().toExtend<ConnectSandboxV2>()
  expectTypeOf<Published['TemplateUpdateRequest']>().toExtend<TemplateUpdateRequest>()
  expectTypeOf<Published['AssignTemplateTagsRequest']>().toExtend<AssignTemplateTagsRequest>()
  expectTypeOf<Published['DeleteTemplateTagsRequest']>().toExtend<DeleteTemplateTagsRequest>()
})
