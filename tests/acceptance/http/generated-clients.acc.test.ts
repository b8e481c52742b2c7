import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { findPython, runPython } from '../support/run-python.ts'
import { fromEnvironment, server } from '../support/server.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const acceptance = join(root, 'tests/acceptance')
const GENERATOR = { name: 'openapi-python-client', version: '0.29.1' }
const STRICT = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', '--allowImportingTsExtensions']
const EXACT = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck']

const operations = [
  '[POST /v2/sandboxes] [GET /v2/sandboxes] [GET /sandboxes/{sandboxID}] [POST /sandboxes/{sandboxID}/timeout]',
  '[POST /sandboxes/{sandboxID}/pause] [POST /sandboxes/{sandboxID}/connect] [DELETE /sandboxes/{sandboxID}]',
  '[GET /v2/templates] [GET /teams] [GET /api-keys]',
].join(' ')

let folder = ''
let python = ''
let missing = ''

beforeAll(async () => {
  ;({ python, missing } = await findPython(GENERATOR))
  folder = await mkdtemp(join(root, '.tools/generated-clients-'))
  const { text } = await callApi('GET /openapi.json', { key: false })
  await writeFile(join(folder, 'openapi.json'), text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const environment = (): NodeJS.ProcessEnv => ({
  API_URL: server.apiUrl,
  API_KEY: server.apiKey,
  ACCESS_TOKEN: fromEnvironment('E2B_ACCESS_TOKEN'),
  MARK: randomBytes(8).toString('hex'),
})

test(`${operations} the main job with types of openapi-typescript`, async () => {
  // A field of a request that has a default may be absent.
  const document = await readFile(join(folder, 'openapi.json'), 'utf8')
  await writeFile(join(folder, 'schema.ts'), astToString(await openapiTypescript(document, { defaultNonNullable: false })))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await copyFile(join(acceptance, 'generated/main-job.ts.txt'), join(folder, 'main-job.ts'))
  await symlink(join(acceptance, 'node_modules'), join(folder, 'node_modules'))
  const compiler = join(acceptance, 'node_modules/typescript/bin/tsc')
  const typeRoots = ['--typeRoots', join(root, 'node_modules/@types')]
  const checked = await run(process.execPath, [compiler, ...STRICT, ...EXACT, ...typeRoots, 'main-job.ts'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  expect(checked.stdout).toBe('')
  const { stdout } = await run(process.execPath, ['main-job.ts'], { cwd: folder, env: { ...process.env, ...environment() } })
  expect(stdout).toBe('main job done\n')
})

test(`${operations} the main job with a client of openapi-python-client`, async ({ skip }) => {
  skip(missing !== '', missing)
  const bin = dirname(python)
  const generate = ['generate', '--path', 'openapi.json', '--output-path', 'generated', '--meta', 'none', '--fail-on-warning']
  await run(python, ['-m', 'openapi_python_client', ...generate], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
  })
  const end = await runPython(python, 'generated_client.py', 110_000, { ...environment(), PYTHONPATH: folder })
  expect(end).toEqual({ status: 0, stdout: 'main job done\n', stderr: '' })
})
