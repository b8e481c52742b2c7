import { closeSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { loadCLibrary } from '../sys/c-library.ts'
import { openPipe } from '../sys/descriptors.ts'
import { InputPipe } from './input-pipe.ts'

const NEVER = new AbortController().signal

beforeAll(loadCLibrary)

it.each([
  ['closed by a client before the process ended', true, 'error writing to stdin: stdin not enabled or closed'],
  ['open until the process ended', false, "error writing to stdin: error writing to stdin of process '7': write |1: file already closed"],
])('a write to an input that was %s fails with its reason', async (_, isClosedBefore, message) => {
  const ends = openPipe()
  const input = new InputPipe(ends.write, 7)
  if (isClosedBefore) input.end()
  input.destroy()
  await expect(input.write(Buffer.from('late'), NEVER)).rejects.toMatchObject({ kind: 'internal', message })
  closeSync(ends.read)
})
