import type { DashboardDefaultTemplate, DashboardTemplate } from '@sandyard/api-contract/dashboard-backend/templates'
import type { TemplateRow } from '../templates/template-rows.ts'
import { toForeignTemplate, toTemplate } from '../templates/template-view.ts'

/** @param teamId - the team of the caller: only the owner of a template sees how often it is used */
export function toDashboardTemplate(row: TemplateRow, teamId: string): DashboardTemplate {
  const { buildStatus: _, ...template } = row.team_id === teamId ? toTemplate(row) : toForeignTemplate(row)
  return { ...template, defaultDescription: null }
}

export function toDefaultTemplate(row: TemplateRow, teamId: string): DashboardDefaultTemplate {
  const template = toDashboardTemplate(row, teamId)
  return {
    id: template.templateID,
    aliases: template.names.map((name) => {
      const slash = name.indexOf('/')
      return { alias: name.slice(slash + 1), namespace: slash === -1 ? null : name.slice(0, slash) }
    }),
    buildId: template.buildID,
    ramMb: template.memoryMB,
    vcpu: template.cpuCount,
    totalDiskSizeMb: template.diskSizeMB,
    envdVersion: template.envdVersion,
    createdAt: template.createdAt,
    public: template.public,
    buildCount: template.buildCount,
    spawnCount: template.spawnCount,
  }
}
