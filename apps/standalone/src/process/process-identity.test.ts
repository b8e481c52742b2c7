import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { commandLine, endProcess, identifyChild, identifyProcess, isStillRunning } from './process-identity.ts'

it('distinguishes a process from a later one with the same pid', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const identity = identifyProcess(child.pid ?? 0)
  if (identity === undefined) throw new Error('no such process')
  expect(isStillRunning(identity)).toBe(true)
  expect(isStillRunning({ ...identity, startTicks: '1' })).toBe(false)
  expect(isStillRunning({ ...identity, bootId: 'another' })).toBe(false)
  expect(await endProcess({ ...identity, startTicks: '1' }, [{ signal: 'SIGKILL', waitMs: 1000 }])).toBe(true)
  expect(commandLine(identity.pid)).toEqual(['sleep', '60'])
  expect(await endProcess(identity, [{ signal: 'SIGTERM', waitMs: 5000 }])).toBe(true)
  expect(isStillRunning(identity)).toBe(false)
  expect(identifyProcess(0)).toBeUndefined()
})

it('gives a child that has ended already an identity of no running process', async () => {
  const child = spawn('true')
  const pid = child.pid ?? 0
  await once(child, 'close')
  expect(isStillRunning(identifyChild(pid))).toBe(false)
  expect(await endProcess(identifyChild(pid), [{ signal: 'SIGKILL', waitMs: 1000 }])).toBe(true)
})
