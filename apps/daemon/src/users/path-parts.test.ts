import { describe, expect, it } from 'vitest'
import { baseName, parentDirectory } from './path-parts.ts'

describe('path parts', () => {
  it.each([
    ['/', '/', '/'],
    ['/a', '/', 'a'],
    ['/a/b', '/a', 'b'],
    ['/a/b/', '/a/b', 'b'],
    ['/a/../b/c', '/b', 'c'],
    ['//a//b', '/a', 'b'],
    ['/a/.', '/a', '.'],
    ['/a/..', '/a', '..'],
  ])('%j is in %j and called %j', (path, parent, name) => {
    expect([parentDirectory(path), baseName(path)]).toEqual([parent, name])
  })
})
