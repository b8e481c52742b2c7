import { expect, it } from 'vitest'
import { checkWorkdirs } from './check-workdirs.ts'

const step = (type: string, ...args: string[]): { type: string; args: string[] } => ({ type, args })

it('names the step whose working directory is in a tree of the kernel', () => {
  expect(() => checkWorkdirs([step('RUN', '/proc'), step('workdir', '/srv/../proc/self/fd/7')])).toThrow(
    expect.objectContaining({
      kind: 'invalid_argument',
      message: 'validation error: step 2: WORKDIR /srv/../proc/self/fd/7: a working directory cannot be in /proc, /sys or /dev',
    }),
  )
})

it('accepts others, also those that are known only when the step runs', () => {
  const steps = ['/srv', '/dev/shm/x', 'dev', '$X/proc', ''].map((path) => step('WORKDIR', path))
  expect(() => checkWorkdirs([...steps, step('WORKDIR')])).not.toThrow()
})
