import { BuildError, Sandbox, Template } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CREDENTIALS, startRegistry, type PrivateRegistry } from '../support/registry.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

let registry: PrivateRegistry

beforeAll(async () => {
  registry = await startRegistry()
})

afterAll(async () => {
  await removeTemplates()
  await registry?.[Symbol.asyncDispose]()
})

describe('[POST /v2/templates/{templateID}/builds/{buildID}] an image of a registry with a password', () => {
  test.each([
    ['none', undefined, ':1', 'access denied to '],
    ['the wrong one', { username: CREDENTIALS.username, password: 'wrong-secret' }, ':1', 'access denied to '],
    ['the right one, but a tag that is not there', CREDENTIALS, ':2', 'not found: the image or tag does not exist in the registry'],
  ])('cannot be pulled with %s', async (_, credentials, tag, reason) => {
    const image = registry.image.replace(/:1$/, tag)
    const lines: string[] = []
    const template = Template().fromImage(image, credentials).runCmd('echo never')
    const build = buildTemplate(template, templateName('denied'), { onBuildLogs: ({ message }) => void lines.push(message) })
    const failure: unknown = await build.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BuildError)
    expect((failure as BuildError).message).toContain(`'${image}'`)
    expect((failure as BuildError).message).toContain(reason)
    expect((failure as BuildError).stack).toContain('registry.acc.test.ts')
    expect(lines.join('\n')).not.toContain('secret')
  })

  test('can be pulled with the right password and built, although it has only busybox', async () => {
    const name = templateName('private')
    const template = Template().fromImage(registry.image, CREDENTIALS).runCmd(`echo "$FROM_IMAGE, $0, $(id -un)" # ${name}`)
    const built = await buildTemplate(template, name)
    expect(built.lines).toContain('[builder 1/1] [stdout]: kept from the image, /bin/bash, user')
    expect(built.lines.join('\n')).not.toContain(CREDENTIALS.password)
    const sandbox = await Sandbox.create(built.name)
    try {
      expect((await sandbox.commands.run('echo "$FROM_IMAGE"; pwd')).stdout).toBe('kept from the image\n/home/user\n')
    } finally {
      await sandbox.kill()
    }
  })
})
