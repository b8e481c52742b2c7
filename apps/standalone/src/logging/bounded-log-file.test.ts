import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BoundedLogFile } from './bounded-log-file.ts'

it('stores the newest lines in two files of bounded size, for the owner only', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'standalone-')), 'server.log')
  {
    using log = new BoundedLogFile(file, 100)
    for (let line = 0; line < 50; line += 1) log.write(`line ${line} of the log\n`)
  }
  const kept = readFileSync(`${file}.1`, 'utf8') + readFileSync(file, 'utf8')
  expect(kept).toMatch(/line 49 of the log\n$/)
  expect(kept.length).toBeLessThan(250)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

it('does not mix its lines with the chunks of another process', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'standalone-')), 'server.log')
  using log = new BoundedLogFile(file)
  log.writeChunk(Buffer.from('child 1\nchi'))
  log.write('own\n')
  log.writeChunk(Buffer.from('ld 2\n'))
  expect(readFileSync(file, 'utf8')).toBe('child 1\nown\nchild 2\n')
})
