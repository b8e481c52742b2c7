import { closeSync, fstatSync, openSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { loadCLibrary } from '../sys/c-library.ts'
import { openPipe } from '../sys/descriptors.ts'
import { PipeStreams } from './pipe-streams.ts'

beforeAll(loadCLibrary)

it.each(['stdin', 'stdout', 'stderr'] as const)('closes each descriptor once if %s is not a pipe', async (broken) => {
  const [input, output, error] = [openPipe(), openPipe(), openPipe()]
  const own = { stdin: input.write, stdout: output.read, stderr: error.read }
  closeSync(own[broken])
  own[broken] = openSync(import.meta.filename, 'r')
  expect(() => new PipeStreams(own, 7, () => true)).toThrow('Unsupported fd type: FILE')
  for (const fd of Object.values(own)) expect(() => fstatSync(fd)).toThrow('EBADF')

  const reused = Object.values(own).map(() => openSync(import.meta.filename, 'r'))
  for (let turn = 0; turn < 10; turn += 1) await setImmediate()
  for (const fd of reused) closeSync(fd)
  for (const fd of [input.read, output.write, error.write]) closeSync(fd)
})
