import { expect, it } from 'vitest'
import { makeFolderCode, openShellCode, renameCode, signalCode, writeCode } from './inside-code.ts'

it('quotes paths for each language', () => {
  const { cli, javascript, python } = makeFolderCode('i1', `/home/user/it's "new"`)
  expect(cli).toBe(`sandyard exec i1 -- mkdir -p '/home/user/it'\\''s "new"'`)
  expect(javascript).toContain(`await sandbox.files.makeDir("/home/user/it's \\"new\\"")`)
  expect(python).toContain(`sandbox.files.make_dir("/home/user/it's \\"new\\"")`)
})

it('names both paths of a rename, and has no form that needs a token', () => {
  const code = renameCode('i1', '/a', '/b')
  expect(code.javascript).toContain('sandbox.files.rename("/a", "/b")')
  expect(code.cli).toBe('sandyard exec i1 -- mv /a /b')
  expect(code.curl).toBeUndefined()
})

it('sends a signal as root, as the page does', () => {
  expect(signalCode('i1', 42, 'TERM').cli).toBe('sandyard exec -u root i1 -- kill -TERM 42')
})

it('names the user and the folder of a shell only where they are given', () => {
  expect(openShellCode('i1', { user: '', cwd: '' }).python).toBe(
    'from e2b import PtySize, Sandbox\n\nsandbox = Sandbox.connect("i1")\nsandbox.pty.create(PtySize(rows=24, cols=80))',
  )
  expect(openShellCode('i1', { user: 'root', cwd: '/srv' }).javascript).toContain(', user: "root", cwd: "/srv" })')
})

it('copies a file to its path', () => {
  expect(writeCode('i1', '/home/user/a b').cli).toBe("sandyard cp file 'i1:/home/user/a b'")
})
