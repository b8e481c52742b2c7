import { Sandbox, Template } from 'e2b'
import { afterAll, expect, test } from 'vitest'
import { makeContext } from '../support/build-context.ts'
import { e2b245 } from '../support/sdks.ts'
import { buildTemplate, outputOf, removeLater, removeTemplates, templateName } from '../support/templates.ts'

const operations = '[POST /v3/templates] [POST /v2/templates/{templateID}/builds/{buildID}] [GET /templates/{templateID}/files/{hash}]'

const name = templateName('dockerfile')

const DOCKERFILE = `FROM debian:bookworm-slim
ARG WHERE=/srv/app
ENV MODE=fast \\
    LEVEL=3
RUN mkdir -p $WHERE && \\
    echo "$MODE $LEVEL" > $WHERE/mode # ${name}
WORKDIR $WHERE
COPY --chown=daemon hello.txt ./
ADD hello.txt copy.txt
EXPOSE 80
USER daemon
RUN echo "$(id -un) in $(pwd)"
`

afterAll(removeTemplates)

test(`${operations} a Dockerfile that the SDK parses`, async () => {
  await using context = await makeContext({ 'hello.txt': 'hello\n' })
  const built = await buildTemplate(Template({ fileContextPath: context.directory }).fromDockerfile(DOCKERFILE), name)
  expect(outputOf(built)).toEqual(['daemon in /srv/app'])
  const sandbox = await Sandbox.create(built.name)
  try {
    const { stdout } = await sandbox.commands.run('id -un; cat mode copy.txt; stat -c %U:%G hello.txt copy.txt; echo $LEVEL')
    expect(stdout).toBe('daemon\nfast 3\nhello\ndaemon:daemon\nroot:root\n3\n')
  } finally {
    await sandbox.kill()
  }
})

test(`${operations} a template of e2b 2.45.0`, async () => {
  await using context = await makeContext({ 'hello.txt': 'hello\n' })
  const alias = templateName('older')
  const template = e2b245
    .Template({ fileContextPath: context.directory })
    .fromTemplate('base')
    .copy('hello.txt', 'hello.txt', { mode: 0o600 })
    .runCmd('echo ran >> hello.txt')
  const built = await e2b245.Template.build(template, { alias, cpuCount: 1, memoryMB: 256 })
  removeLater(built.templateId)
  expect(await e2b245.Template.aliasExists(alias)).toBe(true)
  expect(await e2b245.Template.getBuildStatus(built)).toMatchObject({ status: 'ready' })
  const sandbox = await e2b245.Sandbox.create(alias)
  try {
    expect(await sandbox.files.read('hello.txt')).toBe('hello\nran\n')
    expect(await sandbox.getInfo()).toMatchObject({ name: alias, cpuCount: 1, memoryMB: 256 })
  } finally {
    await sandbox.kill()
  }
})
