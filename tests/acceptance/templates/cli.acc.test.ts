import { Sandbox } from 'e2b'
import { afterAll, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { makeContext } from '../support/build-context.ts'
import { e2b } from '../support/cli.ts'
import { removeTemplatesNamed, templateName } from '../support/templates.ts'

const operations = [
  '[POST /v3/templates] [POST /v2/templates/{templateID}/builds/{buildID}] [GET /templates/{templateID}/builds/{buildID}/status]',
  '[GET /templates] [PATCH /v2/templates/{templateID}] [DELETE /templates/{templateID}]',
].join(' ')

const DOCKERFILE = `FROM e2bdev/base
COPY hello.txt /srv/hello.txt
RUN echo "built as $(id -un)" >> /srv/hello.txt
`

const name = templateName('cli')

afterAll(async () => {
  await removeTemplatesNamed(name)
})

test(`${operations} the template commands of @e2b/cli 2.19.0`, { timeout: 300_000 }, async () => {
  await using context = await makeContext({ 'e2b.Dockerfile': DOCKERFILE, 'hello.txt': 'hello\n' })
  const printed = await e2b(context.directory, 'template', 'create', name, '--cpu-count', '1', '--memory-mb', '512')
  expect(printed).toContain('RUN echo')
  const sandbox = await Sandbox.create(name)
  try {
    expect(await sandbox.files.read('/srv/hello.txt')).toBe('hello\nbuilt as root\n')
  } finally {
    await sandbox.kill()
  }

  const listed = await listTemplate(context.directory)
  expect(listed).toMatchObject({ aliases: [name], public: false, cpuCount: 1, memoryMB: 512, envdVersion: '0.6.13' })
  const id = String(listed?.['templateID'])
  expect(await e2b(context.directory, 'template', 'list')).toContain(id)

  await e2b(context.directory, 'template', 'publish', '--yes', id)
  expect(await listTemplate(context.directory)).toMatchObject({ public: true })
  await e2b(context.directory, 'template', 'unpublish', '--yes', name)
  expect(await listTemplate(context.directory)).toMatchObject({ public: false })

  await e2b(context.directory, 'template', 'delete', '--yes', id)
  expect(await listTemplate(context.directory)).toBeUndefined()
  expect(await callApi(`GET /templates/${id}`)).toMatchObject({ status: 404 })
})

async function listTemplate(directory: string): Promise<Record<string, unknown> | undefined> {
  const templates = JSON.parse(await e2b(directory, 'template', 'list', '--format', 'json')) as Record<string, unknown>[]
  return templates.find(({ aliases }) => Array.isArray(aliases) && aliases.includes(name))
}
