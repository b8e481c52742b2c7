import { Sandbox, Template, TemplateError } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildTemplate, removeTemplates, templateName, type Built } from '../support/templates.ts'

const name = templateName('tags')
let first: Built
let second: Built

async function versionIn(reference: string): Promise<string> {
  const sandbox = await Sandbox.create(reference)
  try {
    return (await sandbox.files.read('version')).trim()
  } finally {
    await sandbox.kill()
  }
}

async function tagged(): Promise<Record<string, string>> {
  const tags = await Template.getTags(first.templateId)
  expect(tags.map(({ createdAt }) => Number.isNaN(createdAt.getTime()))).not.toContain(true)
  return Object.fromEntries(tags.map(({ tag, buildId }) => [tag, buildId]))
}

beforeAll(async () => {
  first = await buildTemplate(Template().fromTemplate('base').runCmd('echo one > version'), `${name}:v1`)
  second = await buildTemplate(Template().fromTemplate('base').runCmd('echo two > version'), name, { tags: ['v2', 'stable'] })
}, 300_000)

afterAll(removeTemplates)

describe('builds of one template', () => {
  test('[POST /v3/templates] [GET /templates/{templateID}/tags] get the tags of the build request', async () => {
    expect(first).toMatchObject({ name: `${name}:v1`, tags: ['v1'] })
    expect(second.tags.toSorted()).toEqual(['stable', 'v2'])
    expect(second.templateId).toBe(first.templateId)
    expect(await tagged()).toEqual({ v1: first.buildId, v2: second.buildId, stable: second.buildId })
    expect((await Template.getTags(name)).map(({ tag }) => tag)).toEqual(['stable', 'v1', 'v2'])
  })

  test('[POST /v2/sandboxes] start by tag, by build, and by name only if the tag `default` exists', async () => {
    await expect(Sandbox.create(name)).rejects.toThrow(`tag 'default' does not exist for template '${name}'`)
    expect(await versionIn(`${name}:v1`)).toBe('one')
    expect(await versionIn(`${name}:v2`)).toBe('two')
    expect(await versionIn(`${first.templateId}:${first.buildId}`)).toBe('one')
    expect(await versionIn(`${name}:${second.buildId}`)).toBe('two')

    expect(await Template.assignTags(`${name}:v1`, 'default')).toEqual({ buildId: first.buildId, tags: ['default'] })
    expect(await versionIn(name)).toBe('one')
  })

  test('[POST /templates/tags] [DELETE /templates/tags] [GET /templates/aliases/{alias}] get and lose tags', async () => {
    const assigned = await Template.assignTags(`${name}:${second.buildId}`, ['Production ', 'production', 'stable'])
    expect({ ...assigned, tags: assigned.tags.toSorted() }).toEqual({ buildId: second.buildId, tags: ['production', 'stable'] })
    expect(await tagged()).toMatchObject({ production: second.buildId })
    await Template.assignTags(`${name}:v1`, 'production')
    expect(await tagged()).toMatchObject({ production: first.buildId })

    expect(await Template.exists(name)).toBe(true)
    expect(await Template.exists(`${name}:production`)).toBe(true)
    await Template.removeTags(name, ['production', 'never-there'])
    expect(await Template.exists(`${name}:production`)).toBe(false)
    expect(await tagged()).not.toHaveProperty('production')
    expect(await Template.aliasExists(`${name}-not`)).toBe(false)
    expect(await Template.exists('base')).toBe(true)
  })

  test('[POST /templates/tags] [DELETE /templates/tags] refuse invalid tags and unknown builds', async () => {
    await expect(Template.removeTags(name, 'default')).rejects.toThrow(TemplateError)
    await expect(Template.assignTags(`${name}:never-there`, 'x')).rejects.toThrow(/not found/)
    for (const wrong of ['', 'has space', 'ä', first.buildId])
      await expect(Template.assignTags(`${name}:v1`, wrong), wrong).rejects.toThrow(TemplateError)
    for (const target of [':v1', `${name}:`]) await expect(Template.assignTags(target, 'x'), target).rejects.toThrow(TemplateError)
  })
})
