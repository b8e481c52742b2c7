import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFromEngine } from '../../tools/gate/test-server.ts'
import { ROOT } from '../../tools/gate/run-command.ts'
import { copyExample, type ExampleCopy } from './run-example.ts'

const ASK =
  'fetch(process.env.E2B_API_URL + "/v2/sandboxes", { headers: { "X-API-KEY": process.env.E2B_API_KEY } }).then(({ status }) => console.log(status))'

let example: ExampleCopy
let dataDir: string
beforeAll(async () => {
  example = await copyExample('ci')
  dataDir = await mkdtemp(join(tmpdir(), 'sandyard-ci-'))
})
afterAll(async () => {
  await removeFromEngine(join(dataDir, 'installation'))
  await rm(dataDir, { recursive: true, force: true })
  await example[Symbol.asyncDispose]()
})

test('the CI example runs a command with a server of its own, and ends with its status', async () => {
  // Without the settings of the server under test: the script has to set its own.
  const none = { E2B_API_KEY: '', E2B_API_URL: '', E2B_SANDBOX_URL: '', E2B_VOLUME_API_URL: '' }
  const environment = { ...none, SANDYARD_HOME: ROOT, SANDYARD_DATA_DIR: dataDir }
  const command = ['with-sandyard.sh', 'sh', '-c', `'${process.execPath}' -e '${ASK}'; exit 7`]
  const { status, stdout, stderr } = await example.run('sh', command, environment)
  expect({ status, stdout }, stderr).toEqual({ status: 7, stdout: '200\n' })
})

test('the CI example refuses to run without a command', async () => {
  const { status, stderr } = await example.run('sh', ['with-sandyard.sh'], { SANDYARD_HOME: ROOT })
  expect({ status, stderr }).toEqual({ status: 64, stderr: 'usage: with-sandyard.sh <command> [argument ...]\n' })
})
