import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { wire } from '../../api/wire.ts'
import type { ActionCode } from '../../parts/action-code.ts'
import { curlOf } from '../../parts/wire-code.ts'

export function nameOf({ names, templateId }: Pick<TemplateRow, 'names' | 'templateId'>): string {
  return names[0] ?? templateId
}

export function setPublic(templateId: string, isPublic: boolean): Promise<unknown> {
  return wire('PATCH', `/v2/templates/${templateId}`, { body: { public: isPublic } })
}

export function publishCode(templateId: string, isPublic: boolean): ActionCode {
  return { curl: curlOf({ method: 'PATCH', path: `/v2/templates/${templateId}`, body: { public: isPublic } }) }
}

export function deleteTemplate(templateId: string): Promise<unknown> {
  return wire('DELETE', `/templates/${templateId}`)
}

export function deleteCode(templateId: string): ActionCode {
  return { cli: `e2b template delete ${templateId} --yes`, curl: curlOf({ method: 'DELETE', path: `/templates/${templateId}` }) }
}

/** Points a tag to a build. The target is `name:build`, where the name has its namespace. */
export function assignTag(name: string, tag: string, buildId: string): Promise<unknown> {
  return wire('POST', '/templates/tags', { body: { target: `${name}:${buildId}`, tags: [tag] } })
}

export function assignCode(name: string, tag: string, buildId: string): ActionCode {
  const target = `${name}:${buildId}`
  return {
    javascript: `await Template.assignTags('${target}', '${tag}')`,
    python: `Template.assign_tags('${target}', '${tag}')`,
    curl: curlOf({ method: 'POST', path: '/templates/tags', body: { target, tags: [tag] } }),
  }
}

export function removeTag(name: string, tag: string): Promise<unknown> {
  return wire('DELETE', '/templates/tags', { body: { name, tags: [tag] } })
}

export function removeTagCode(name: string, tag: string): ActionCode {
  return {
    javascript: `await Template.removeTags('${name}', '${tag}')`,
    python: `Template.remove_tags('${name}', '${tag}')`,
    curl: curlOf({ method: 'DELETE', path: '/templates/tags', body: { name, tags: [tag] } }),
  }
}
