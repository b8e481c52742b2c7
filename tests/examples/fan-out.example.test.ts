import { expect, test } from 'vitest'
import { copyExample, npmRun } from './run-example.ts'

test('the fan-out example tries 20 variants in 20 forks', async () => {
  await using example = await copyExample('fan-out')
  const { status, stdout, stderr } = await npmRun(example, 'start')
  expect({ status, stdout }, stderr).toEqual({
    status: 0,
    stdout: expect.stringMatching(
      /^20 of 20 forks started\n20 variants ended; the best learning rate is 0\.00\d\d with an error of 0\.\d+\n$/,
    ),
  })
})
