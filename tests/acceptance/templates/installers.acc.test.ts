import { readFile } from 'node:fs/promises'
import { Sandbox, Template } from 'e2b'
import { afterAll, expect, test } from 'vitest'
import { makeContext } from '../support/build-context.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

const operation = '[POST /v2/templates/{templateID}/builds/{buildID}]'
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
const commit = 'git -c user.name=t -c user.email=t@t.test commit -qm'

afterAll(removeTemplates)

/** The template gets this machine's certificates, because the registries may be behind a proxy that only these trust. */
test(`${operation} the helpers for apt, pip, npm and git install the requested packages`, async () => {
  await using context = await makeContext({ 'bundle.crt': await readFile(BUNDLE, 'utf8') })
  const template = Template({ fileContextPath: context.directory })
    .fromBaseImage()
    .copy('bundle.crt', BUNDLE, { user: 'root' })
    .setEnvs({ PIP_CERT: BUNDLE, NODE_EXTRA_CA_CERTS: BUNDLE })
    .aptInstall(['cowsay'], { noInstallRecommends: true })
    .pipInstall('six==1.17.0')
    .pipInstall(['idna==3.10'], { g: false })
    .npmInstall('is-number@7.0.0', { g: true })
    .makeDir('project')
    .setWorkdir('/home/user/project')
    .npmInstall(['is-odd@3.0.1'])
    .runCmd(
      `git init -q -b main origin && cd origin && echo x > x && git add x && ${commit} one && git checkout -qb side && ${commit} two --allow-empty`,
    )
    .gitClone('file:///home/user/project/origin', 'clone', { branch: 'side', depth: 1 })
  const { name } = await buildTemplate(template, templateName('installers'))
  const sandbox = await Sandbox.create(name)
  try {
    const { commands } = sandbox
    expect((await commands.run('/usr/games/cowsay moo')).stdout).toContain('moo')
    expect((await commands.run('python -c "import six, idna; print(six.__version__, idna.__version__)"')).stdout).toBe('1.17.0 3.10\n')
    expect((await commands.run('ls $(npm root -g)')).stdout).toContain('is-number')
    expect((await commands.run('node -p "require(\'is-odd\')(3)"')).stdout).toBe('true\n')
    expect((await commands.run('git -C clone log --format=%s')).stdout).toBe('two\n')
  } finally {
    await sandbox.kill()
  }
}, 300_000)
