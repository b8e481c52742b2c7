import { beforeAll, expect, test } from 'vitest'
import { findPython, runPython } from '../support/run-python.ts'

const operations = [
  '[POST /v2/sandboxes] [POST /v2/sandboxes/{sandboxID}/connect] [GET /v2/sandboxes] [GET /sandboxes/{sandboxID}]',
  '[DELETE /sandboxes/{sandboxID}] [POST /sandboxes/{sandboxID}/timeout] [POST /sandboxes/{sandboxID}/pause]',
  '[PUT /sandboxes/{sandboxID}/network] [GET /sandboxes/{sandboxID}/metrics] [POST /sandboxes/{sandboxID}/fork]',
  '[POST /sandboxes/{sandboxID}/snapshots] [GET /snapshots] [DELETE /templates/{templateID}]',
].join(' ')

let python = ''
let missing = ''

beforeAll(async () => {
  ;({ python, missing } = await findPython())
})

test.for([
  ['sync', 'lifecycle.py'],
  ['async', 'lifecycle_async.py'],
] as const)(`${operations} pause, resume, snapshots and forks with Python e2b 2.63.0, %s`, async ([, script], { skip }) => {
  skip(missing !== '', missing)
  expect(await runPython(python, script, 110_000)).toEqual({ status: 0, stdout: 'lifecycle done\n', stderr: expect.any(String) })
})
