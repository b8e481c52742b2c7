import { TEMPLATE_DEFAULTS } from '@sandyard/api-contract/builds/register-build'
import { limitsOf } from '../../teams/team-limits.ts'
import { readBuildName } from './build-name.ts'
import type { BuildParts } from '../build-parts.ts'
import { registerBuild, type Registration } from './register-build.ts'
import { getRegisteredTemplate, type RegisteredTemplate } from './registered-template.ts'
import { checkTemplateSize } from './template-size.ts'

export interface NamedBuildRequest {
  /** `[namespace/]alias[:tag]`. */
  readonly name: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly cpuCount?: number | undefined
  readonly memoryMib?: number | undefined
  readonly diskMib?: number | undefined
}

/**
 * Registers a build for the template with this name; creates the template if the team has none. The checks run in the order of
 * control-plane.md 10.3.
 *
 * @throws AppError with the texts of control-plane.md 10.3
 */
export async function registerNamedBuild(
  parts: BuildParts,
  acting: Pick<Registration, 'team' | 'userId' | 'scope' | 'operation'>,
  request: NamedBuildRequest,
): Promise<{ registered: RegisteredTemplate; tags: readonly string[] }> {
  const { alias, tags } = readBuildName(acting.team, request.name, request.tags)
  const { cpuCount = TEMPLATE_DEFAULTS.cpuCount, memoryMib = TEMPLATE_DEFAULTS.memoryMb, diskMib } = request
  const resources = checkTemplateSize({ cpuCount, memoryMib, diskMib }, limitsOf(parts.limits, acting.team.limits))
  const { buildId } = await registerBuild(parts, { ...acting, target: { kind: 'named', alias }, tags, resources })
  return { registered: await getRegisteredTemplate(parts.database.db, buildId), tags }
}
