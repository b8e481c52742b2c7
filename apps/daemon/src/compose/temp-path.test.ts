import { expect, it } from 'vitest'
import { createTempPath } from './temp-path.ts'

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

it.each([
  ['a short name', '/dir/file.bin', 'file.bin'],
  ['the longest name that needs no cut', `/dir/${'n'.repeat(202)}`, 'n'.repeat(202)],
  ['a longer one', `/dir/${'n'.repeat(255)}`, 'n'.repeat(202)],
  ['a cut inside of a character', `/dir/x${'é'.repeat(127)}`, `x${'é'.repeat(100)}`],
  ['a name that no file can have', `/dir/${'n'.repeat(256)}`, 'n'.repeat(256)],
  ['a directory', '/dir/', ''],
])('is beside the destination: %s', (_what, destination, name) => {
  expect(createTempPath(destination)).toMatch(new RegExp(`^/dir/${name}\\.e2b-compose\\.${UUID}\\.tmp$`))
})
