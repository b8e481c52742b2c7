import { expect, it } from 'vitest'
import { isKernelDirectory } from './kernel-directory.ts'

it.for([
  '/proc',
  '/proc/self/fd/7',
  '//proc/self/fd/7',
  '/srv/../proc/1/cwd',
  'proc/self/cwd',
  '/dev/fd/8',
  '/sys/fs/cgroup/',
  '/dev/./pts',
])('refuses %s', (path) => expect(isKernelDirectory(path)).toBe(true))

it.for(['/', '/srv', '/process', '/home/dev', '/devel/proc', '/dev/shm', '/dev/shm/x', '', 'app/proc'])('accepts %j', (path) =>
  expect(isKernelDirectory(path)).toBe(false),
)
