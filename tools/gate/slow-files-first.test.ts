import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './run-command.ts'
import { SLOW_FILES } from './slow-files-first.ts'

it('names files that exist', () => {
  expect(SLOW_FILES.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})
