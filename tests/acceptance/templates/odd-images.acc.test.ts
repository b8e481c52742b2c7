import { BuildError, Template } from 'e2b'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeContext } from '../support/build-context.ts'
import { engine } from '../support/engine.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

const operation = '[POST /v2/templates/{templateID}/builds/{buildID}]'
const EMPTY = 'sandyard/test-without-anything'

beforeAll(async () => {
  await using context = await makeContext({ Dockerfile: 'FROM scratch\nCOPY only /only\n', only: '' })
  await engine('build', '--quiet', '--tag', EMPTY, context.directory)
})

afterAll(removeTemplates)

test(`${operation} an image without a shell is refused with a message that names the reason`, async () => {
  const failure: unknown = await buildTemplate(Template().fromImage(EMPTY).runCmd('true'), templateName('empty')).catch(
    (err: unknown) => err,
  )
  expect(failure).toBeInstanceOf(BuildError)
  expect((failure as BuildError).message).toMatch(/\/bin\/sh/)
})
