import { Sandbox, Template, waitForFile, waitForPort, waitForProcess, waitForTimeout, waitForURL, type TemplateClass } from 'e2b'
import { afterAll, describe, expect, test } from 'vitest'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'
import { hostForm, throughProxy } from '../support/through-proxy.ts'

const operations = '[POST /v2/templates/{templateID}/builds/{buildID}] [POST /v2/sandboxes]'
const serve = 'echo "$PAGE as $(id -un) in $(pwd)" > index.html && exec python3 -m http.server 8000'

afterAll(removeTemplates)

function webServer(): TemplateClass {
  return Template().fromTemplate('base').setEnvs({ PAGE: 'hello' }).setWorkdir('/home/user/site').setStartCmd(serve, waitForPort(8000))
}

async function pageOf(template: string): Promise<string> {
  const sandbox = await Sandbox.create(template)
  try {
    const answer = await throughProxy(hostForm(sandbox, 8000), { path: '/' })
    return `${answer.status} ${answer.text.trim()}`
  } finally {
    await sandbox.kill()
  }
}

describe(`${operations} a start command`, () => {
  test('runs when the create returns, in the context of the build, and in templates that are built from it', async () => {
    const parent = await buildTemplate(webServer(), templateName('server'), { skipCache: true })
    expect(parent.lines).toEqual(expect.arrayContaining([`Running start command: ${serve}`, 'Template is ready']))
    expect(await pageOf(parent.name)).toBe('200 hello as user in /home/user/site')
    const cached = await buildTemplate(webServer(), templateName('server-again'))
    expect(cached.lines).not.toContain('Template is ready')
    expect(await pageOf(cached.name)).toBe('200 hello as user in /home/user/site')

    const child = Template().fromTemplate(parent.name).setEnvs({ PAGE: 'other' }).setWorkdir('/tmp').setUser('root').runCmd('touch /child')
    const derived = await buildTemplate(child, templateName('derived'))
    expect(await pageOf(derived.name)).toBe('200 hello as user in /home/user/site')
  })

  test.each([
    ['waitForURL', 'python3 -m http.server 8001', waitForURL('http://localhost:8001/')],
    ['waitForProcess', 'exec sleep 600', waitForProcess('sleep')],
    ['waitForFile', 'touch /tmp/is-ready && exec sleep 600', waitForFile('/tmp/is-ready')],
    ['waitForTimeout', 'exit 0', waitForTimeout(1000)],
  ] as const)('is waited for by %s', async (_, command, ready) => {
    const built = await buildTemplate(Template().fromTemplate('base').setStartCmd(command, ready), templateName('ready'), {
      skipCache: true,
    })
    const order = [`Running start command: ${command}`, `Waiting for template to be ready: ${ready.getCmd()}`, 'Template is ready']
    expect(built.lines.filter((line) => order.includes(line))).toEqual(order)
    const sandbox = await Sandbox.create(built.name)
    try {
      expect(await sandbox.commands.run(ready.getCmd())).toMatchObject({ exitCode: 0 })
    } finally {
      await sandbox.kill()
    }
  })
})
