import type { components } from 'e2b'
import { expectTypeOf, it } from 'vitest'
import type {
  BuildLogEntry,
  BuildLogsQuery,
  BuildStatusQuery,
  BuildStatusReason,
  TemplateBuildInfo,
  TemplateBuildLogs,
} from './build-info.ts'
import type { TemplateBuildRequestV3 } from './register-build.ts'
import type { TemplateBuildStartV2, TemplateStep } from './start-build.ts'
import type { paths } from 'e2b'

type Published = components['schemas']
type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Q } } } ? Q : never

it('returns the build types that the published client declares', () => {
  expectTypeOf<BuildLogEntry>().toExtend<Published['BuildLogEntry']>()
  expectTypeOf<BuildStatusReason>().toExtend<Published['BuildStatusReason']>()
  expectTypeOf<TemplateBuildInfo>().toExtend<Published['TemplateBuildInfo']>()
  expectTypeOf<TemplateBuildLogs>().toExtend<Published['TemplateBuildLogsResponse']>()
})

it('accepts the build types that the published client sends', () => {
  expectTypeOf<Published['TemplateBuildRequestV3']>().toExtend<TemplateBuildRequestV3>()
  expectTypeOf<Published['TemplateBuildStartV2']>().toExtend<TemplateBuildStartV2>()
  expectTypeOf<Published['TemplateStep']>().toExtend<TemplateStep>()
  expectTypeOf<Query<'/templates/{templateID}/builds/{buildID}/status'>>().toExtend<BuildStatusQuery | undefined>()
  expectTypeOf<Query<'/templates/{templateID}/builds/{buildID}/logs'>>().toExtend<BuildLogsQuery | undefined>()
})
