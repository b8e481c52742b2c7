import { join } from 'node:path'
import { expect, test } from 'vitest'
import { preparePython } from '../acceptance/support/python-environment.ts'
import { runProgram } from '../matrix/run-program.ts'
import { copyExample, npmRun } from './run-example.ts'

const INSTALL_TIMEOUT_MS = 200_000

test('the vitest example passes', async () => {
  await using example = await copyExample('vitest')
  const { status, stdout, stderr } = await npmRun(example, 'test')
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('3 passed') })
})

test('the pytest example passes', async () => {
  await using example = await copyExample('pytest')
  const environment = join(example.directory, 'venv')
  const python = join(environment, 'bin/python')
  // Makes sure that this machine can create environments, and has a Python that is new enough.
  await preparePython()
  const make = await runProgram('python3', ['-m', 'venv', environment], { timeoutMs: INSTALL_TIMEOUT_MS })
  expect(make.status, make.stderr).toBe(0)
  const install = await example.run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'])
  expect(install.status, install.stderr).toBe(0)
  const { status, stdout, stderr } = await example.run(python, ['-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--ignore=venv'])
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('3 passed') })
})
