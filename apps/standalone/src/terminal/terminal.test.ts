import { expect, it } from 'vitest'
import { Terminal } from './terminal.ts'

it('overwrites detail lines in place on a terminal', () => {
  let text = ''
  const terminal = new Terminal({ isTTY: true, columns: 20, write: (part) => (text += part) })
  terminal.step('building')
  terminal.detail('\u001B[31mSetting up a package with a long name')
  terminal.step('done')
  expect(text).toBe('  building\n    Setting up a pa\r\u001B[K  done\n')
})

it('prints an occasional detail line without a terminal', () => {
  let text = ''
  let now = 0
  const terminal = new Terminal({ write: (part) => (text += part) }, () => now)
  terminal.step('building')
  terminal.detail('one')
  now = 20_000
  terminal.detail('two')
  terminal.detail('three')
  expect(text).toBe('  building\n    ... two\n')
})
