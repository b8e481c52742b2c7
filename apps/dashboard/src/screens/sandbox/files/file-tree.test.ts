import type { FileEntry, Listing } from '@sandyard/dashboard-contract/files'
import { expect, it } from 'vitest'
import { cleanPath, foldersTo, joinPath, nameOf, parentOf } from './file-paths.ts'
import { changedListing, conflictOf, treeRows } from './file-tree.ts'

const entry = (path: string, kind: FileEntry['kind'] = 'file', version = '1'): FileEntry => ({
  name: nameOf(path),
  path,
  kind,
  bytes: 1,
  mode: '0644',
  owner: 'user',
  group: 'user',
  modifiedAt: '2026-01-01T00:00:00Z',
  target: null,
  version,
})
const listing = (path: string, entries: readonly FileEntry[], isCut = false): Listing => ({ path, entries, isCut })

it('shows folders first, then names by their numbers, and the content of open folders', () => {
  const folders = new Map([
    ['/', listing('/', [entry('/a10'), entry('/a9'), entry('/etc', 'directory'), entry('/var', 'directory')])],
    ['/etc', listing('/etc', [entry('/etc/hosts')])],
  ])
  const rows = treeRows(folders, new Set(['/etc', '/var']), '/')
  expect(rows.map(({ level, name, note }) => `${level} ${note ?? name}`)).toEqual([
    '1 etc',
    '2 hosts',
    '1 var',
    '2 loading',
    '1 a9',
    '1 a10',
  ])
})

it('says that a folder is empty or cut', () => {
  expect(treeRows(new Map([['/', listing('/', [])]]), new Set(), '/')[0]?.note).toBe('empty')
  expect(treeRows(new Map([['/', listing('/', [entry('/a')], true)]]), new Set(), '/').at(-1)?.note).toBe('cut')
})

it('patches a listing with the changes of its folder', () => {
  const before = listing('/', [entry('/a'), entry('/b')])
  const after = changedListing(before, [
    { kind: 'write', name: 'a', entry: entry('/a', 'file', '2') },
    { kind: 'remove', name: 'b' },
    { kind: 'create', name: 'c', entry: entry('/c') },
  ])
  expect(after?.entries.map(({ name, version }) => `${name} ${version}`)).toEqual(['a 2', 'c 1'])
  expect(changedListing(before, [{ kind: 'create', name: 'd' }])).toBeUndefined()
})

it('reloads a file that was changed below, unless it has changes that are not saved', () => {
  expect(conflictOf('1', { version: '1' }, true)).toBe('none')
  expect(conflictOf('1', { version: '2' }, false)).toBe('reload')
  expect(conflictOf('1', { version: '2' }, true)).toBe('changed')
  expect(conflictOf('1', undefined, false)).toBe('removed')
})

it('handles absolute paths', () => {
  expect(joinPath('/', 'a')).toBe('/a')
  expect(joinPath('/a', 'b')).toBe('/a/b')
  expect(parentOf('/a')).toBe('/')
  expect(parentOf('/a/b')).toBe('/a')
  expect(foldersTo('/home/user')).toEqual(['/', '/home', '/home/user'])
  expect(cleanPath('/a/./b//../c/')).toBe('/a/c')
  expect(cleanPath('/../..')).toBe('/')
  expect(cleanPath('a')).toBeUndefined()
})
