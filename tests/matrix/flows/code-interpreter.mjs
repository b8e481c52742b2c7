/** Code in the kernels of `code-interpreter-v1`: state, output, errors, results of several types, contexts. */
import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { Sandbox } from '@e2b/code-interpreter'
import { finish, step } from './steps.mjs'

const sandbox = await step('create', () => Sandbox.create({ timeoutMs: 170_000 }))
try {
  await step('keep state between cells', async () => {
    await sandbox.runCode('x = 20')
    assert.equal((await sandbox.runCode('x + 1')).text, '21')
  })
  await step('stream output', async () => {
    const seen = []
    const { logs } = await sandbox.runCode('print("one"); import sys; print("two", file=sys.stderr)', {
      onStdout: ({ line }) => void seen.push(line),
    })
    assert.equal(seen.join(''), 'one\n')
    assert.equal(logs.stderr.join(''), 'two\n')
  })
  await step('report an error', async () => {
    const { error } = await sandbox.runCode('1 / 0')
    assert.equal(error.name, 'ZeroDivisionError')
    assert.match(stripVTControlCharacters(error.traceback), /1 \/ 0/)
  })
  await step('draw a chart', async () => {
    const { results } = await sandbox.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [1, 4, 9])\nplt.show()')
    assert.ok(results[0].png.length > 1000)
    assert.equal(results[0].chart.type, 'line')
  })
  await step('run JavaScript', async () => assert.equal((await sandbox.runCode('1 + 2', { language: 'js' })).text, '3'))
  await step('use a context of its own', async () => {
    const context = await sandbox.createCodeContext({ cwd: '/tmp' })
    assert.equal((await sandbox.runCode('import os; os.getcwd()', { context })).text, '/tmp')
    assert.equal((await sandbox.runCode('x', { context })).error.name, 'NameError')
  })
} finally {
  await step('kill', () => sandbox.kill())
}
finish()
