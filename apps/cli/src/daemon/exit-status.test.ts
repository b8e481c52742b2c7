import { expect, it } from 'vitest'
import { shellExitCode } from './exit-status.ts'

it.each([
  [{ exitCode: 0, status: 'exit status 0' }, 0],
  [{ exitCode: 7, status: 'exit status 7' }, 7],
  [{ exitCode: -1, status: 'signal: killed' }, 137],
  [{ exitCode: -1, status: 'signal: segmentation fault (core dumped)' }, 139],
  [{ exitCode: -1, status: 'signal: signal 34' }, 162],
  [{ exitCode: -1, status: 'wait: no child processes' }, 255],
])('reports %o as a shell does', (end, code) => {
  expect(shellExitCode(end)).toBe(code)
})
