import { readFileSync } from 'node:fs'
import { BuildError, Template, waitForFile, type TemplateClass } from 'e2b'
import { afterAll, describe, expect, test } from 'vitest'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

const operations = '[POST /v2/templates/{templateID}/builds/{buildID}] [GET /templates/{templateID}/builds/{buildID}/status]'

afterAll(removeTemplates)

interface Failure {
  readonly error: BuildError
  readonly lines: readonly string[]
}

async function failureOf(template: TemplateClass): Promise<Failure> {
  const lines: string[] = []
  const build = buildTemplate(template, templateName('fails'), { onBuildLogs: ({ message }) => void lines.push(message) })
  const error: unknown = await build.catch((err: unknown) => err)
  if (!(error instanceof BuildError)) throw new Error('the build did not fail as a build', { cause: error })
  return { error, lines }
}

/** The position of `text` in this file, in the form of a stack trace. */
function placeOf(text: string): string {
  const lines = readFileSync(import.meta.filename, 'utf8').split('\n')
  return `failures.acc.test.ts:${lines.findIndex((line) => line.includes(text)) + 1}`
}

describe(`${operations} a failed build names the failed step and its line in the template`, () => {
  test.each<[string, () => TemplateClass, string | RegExp, string]>([
    [
      'a command',
      () => Template().fromTemplate('base').runCmd('echo before').runCmd('echo why >&2; exit 7').runCmd('echo never'),
      "failed to run command 'echo why >&2; exit 7': exit status 7",
      'echo why >&2; exit 7',
    ],
    [
      'an unknown account',
      () => Template().fromTemplate('base').runCmd('whoami', { user: 'root123' }),
      "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'",
      "user: 'root123'",
    ],
    [
      'an unknown template',
      () => Template().fromTemplate('no-such-template-anywhere').runCmd('echo never'),
      /no-such-template-anywhere/,
      "fromTemplate('no-such-template-anywhere')",
    ],
    [
      'a start command',
      () => Template().fromTemplate('base').setStartCmd('echo broken >&2; exit 3', waitForFile('/never')),
      /./,
      "waitForFile('/never')",
    ],
  ])('%s', async (_, describeTemplate, message, blamed) => {
    const { error, lines } = await failureOf(describeTemplate())
    expect(error.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    expect(error.stack).toContain(placeOf(blamed))
    expect(lines).toContain(`Build failed: ${error.message}`)
    expect(lines).not.toContain(expect.stringContaining('echo never'))
  })

  test('the log has the output of the failed step', async () => {
    const { lines } = await failureOf(Template().fromTemplate('base').runCmd('echo told; echo off >&2; exit 1'))
    expect(lines).toEqual(expect.arrayContaining(['[builder 1/1] [stdout]: told', '[builder 1/1] [stderr]: off']))
  })
})
