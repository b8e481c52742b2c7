import { beforeAll, expect, test } from 'vitest'
import { findPython, runPython } from './support/run-python.ts'

const operations = [
  '[POST /v2/sandboxes] [POST /v2/sandboxes/{sandboxID}/connect] [GET /v2/sandboxes] [GET /sandboxes/{sandboxID}]',
  '[POST /sandboxes/{sandboxID}/timeout] [DELETE /sandboxes/{sandboxID}] [process.Process/Start] [process.Process/SendSignal]',
  '[process.Process/List] [daemon GET /files] [daemon POST /files] [daemon GET /health] [filesystem.Filesystem/ListDir]',
  '[filesystem.Filesystem/Stat] [filesystem.Filesystem/MakeDir] [filesystem.Filesystem/Move] [filesystem.Filesystem/Remove]',
  '[proxy header form]',
].join(' ')

let python = ''
let missing = ''

beforeAll(async () => {
  ;({ python, missing } = await findPython())
})

test.for([
  ['sync', 'main_job.py'],
  ['async', 'main_job_async.py'],
] as const)(`${operations} the main job with Python e2b 2.63.0, %s`, async ([, script], { skip }) => {
  skip(missing !== '', missing)
  expect(await runPython(python, script, 110_000)).toEqual({ status: 0, stdout: 'main job done\n', stderr: expect.any(String) })
})
