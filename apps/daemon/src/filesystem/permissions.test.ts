import { describe, expect, it } from 'vitest'
import { permissionsText } from './permissions.ts'

describe('permissionsText', () => {
  it.each([
    [0o100644, '-rw-r--r--'],
    [0o100000, '----------'],
    [0o040755, 'drwxr-xr-x'],
    [0o120777, 'Lrwxrwxrwx'],
    [0o010644, 'prw-r--r--'],
    [0o140755, 'Srwxr-xr-x'],
    [0o060660, 'Drw-rw----'],
    [0o020666, 'Dcrw-rw-rw-'],
    [0o041777, 'dtrwxrwxrwx'],
    [0o104755, 'urwxr-xr-x'],
    [0o042775, 'dgrwxrwxr-x'],
    [0o047755, 'dugtrwxr-xr-x'],
    [0o021666, 'Dctrw-rw-rw-'],
  ])('%o is %s (envd.md 18.33)', (mode, text) => {
    expect(permissionsText(mode)).toBe(text)
  })
})
