import { describe, expect, it } from 'vitest'
import { parseTemplateReference } from './template-reference.ts'

describe('parseTemplateReference', () => {
  it.each([
    ['base', undefined, 'base', undefined],
    ['  Base ', undefined, 'base', undefined],
    ['base:default', undefined, 'base', undefined],
    ['base:v1.2', undefined, 'base', 'v1.2'],
    ['acme/my_app-1:Latest', 'acme', 'my_app-1', 'latest'],
    ['a:6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11', undefined, 'a', '6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11'],
  ])('reads %j', (text, namespace, name, tag) => {
    expect(parseTemplateReference(text)).toMatchObject({ namespace, name, tag })
  })

  it.each([
    ['', 'invalid template ID: '],
    ['a b', 'invalid template ID: a b'],
    ['a/b/c', 'invalid template ID: b/c'],
    ['a/', 'invalid template ID: '],
    ['/a', 'invalid namespace: '],
    ['a.b/c', 'invalid namespace: a.b'],
    ['a:', 'invalid tag: '],
    ['a:b:c', 'invalid tag: b:c'],
    ['a:b/c', 'invalid tag: b/c'],
  ])('refuses %j', (text, message) => {
    expect(() => parseTemplateReference(text)).toThrow(message)
  })
})
