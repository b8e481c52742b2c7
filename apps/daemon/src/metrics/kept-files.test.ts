import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { KeptFiles } from './kept-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'kept-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('reads a file from its beginning each time', () => {
  const path = join(folder, 'counter')
  const files = new KeptFiles()
  for (const text of ['usage 100\n', 'usage 20\n', '']) {
    writeFileSync(path, text)
    expect(files.read(path)).toBe(text)
  }
})

it('throws while a file is absent, and reads it afterwards', () => {
  const path = join(folder, 'late')
  const files = new KeptFiles()
  expect(() => files.read(path)).toThrow('ENOENT')
  writeFileSync(path, 'now')
  expect(files.read(path)).toBe('now')
})
