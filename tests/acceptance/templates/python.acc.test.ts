import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPython, runPython } from '../support/run-python.ts'
import { removeTemplatesNamed } from '../support/templates.ts'

const operations = [
  '[POST /v3/templates] [GET /templates/{templateID}/files/{hash}] [POST /v2/templates/{templateID}/builds/{buildID}]',
  '[GET /templates/{templateID}/builds/{buildID}/status] [POST /templates/tags] [DELETE /templates/tags]',
  '[GET /templates/{templateID}/tags] [GET /templates/aliases/{alias}]',
].join(' ')

let python = ''
let missing = ''

beforeAll(async () => {
  ;({ python, missing } = await findPython())
})

afterAll(async () => {
  await removeTemplatesNamed('acc-python-')
})

test.for([
  ['sync', 'templates.py'],
  ['async', 'templates_async.py'],
] as const)(`${operations} templates with Python e2b 2.63.0, %s`, { timeout: 320_000 }, async ([, script], { skip }) => {
  skip(missing !== '', missing)
  expect(await runPython(python, script, 300_000)).toEqual({ status: 0, stdout: 'templates done\n', stderr: expect.any(String) })
})
