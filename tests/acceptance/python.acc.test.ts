import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { preparePython } from './support/python-environment.ts'

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
  try {
    python = await preparePython()
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    missing = String(error)
  }
})

test.for([
  ['sync', 'main_job.py'],
  ['async', 'main_job_async.py'],
] as const)(`${operations} the main job with Python e2b 2.63.0, %s`, async ([, script], { skip }) => {
  skip(missing !== '', missing)
  const child = spawn(python, ['-X', 'faulthandler', join(import.meta.dirname, '../python', script)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 110_000,
    killSignal: 'SIGABRT',
    // Loopback goes to the server itself, whatever proxy this machine has: this client would send even 127.0.0.1 through it.
    env: { ...process.env, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect({ status: status as unknown, stdout, stderr }).toEqual({ status: 0, stdout: 'main job done\n', stderr: expect.any(String) })
})
