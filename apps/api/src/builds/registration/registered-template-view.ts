import type { TemplateLegacy, TemplateRequestResponseV3 } from '@sandyard/api-contract/templates/template'
import { ENVD_VERSION } from '../../daemon/daemon-version.ts'
import { toWireStatus } from '../../templates/wire-status.ts'
import type { RegisteredTemplate } from './registered-template.ts'

/** The answer of `POST /v3/templates` (control-plane.md 9.1.4). */
export function toTemplateRequestResponse(registered: RegisteredTemplate, tags: readonly string[]): TemplateRequestResponseV3 {
  const { templateId, buildId, isPublic, names, aliases } = registered
  return { templateID: templateId, buildID: buildId, public: isPublic, names: [...names], tags: [...tags], aliases: [...aliases] }
}

/** The answer of the older operations, with the new build and its requested sizes (control-plane.md 9.1.2, 22.2 D1, D2, D14). */
export function toTemplateLegacy(registered: RegisteredTemplate): TemplateLegacy {
  const { build, createdBy } = registered
  return {
    templateID: registered.templateId,
    buildID: registered.buildId,
    cpuCount: build.cpuCount,
    memoryMB: build.memoryMib,
    diskSizeMB: build.diskMib,
    public: registered.isPublic,
    aliases: [...registered.aliases],
    names: [...registered.names],
    createdAt: registered.createdAt.toISOString(),
    updatedAt: registered.updatedAt.toISOString(),
    createdBy: createdBy === undefined ? null : { id: createdBy.id, email: createdBy.email },
    lastSpawnedAt: registered.lastSpawnedAt?.toISOString() ?? null,
    spawnCount: registered.spawnCount,
    buildCount: registered.buildCount,
    envdVersion: build.envdVersion ?? ENVD_VERSION,
    buildStatus: toWireStatus(build.status),
  }
}
