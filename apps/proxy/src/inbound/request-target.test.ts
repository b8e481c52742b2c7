import { expect, it } from 'vitest'
import { parseRequestTarget } from './request-target.ts'

it.each([
  ['/a?b=c', { authority: 'h', path: '/a?b=c' }],
  ['//a', { authority: 'h', path: '//a' }],
  ['*', { authority: 'h', path: '*' }],
  ['http://other:81/a?b', { authority: 'other:81', path: '/a?b' }],
  ['HTTP://other', { authority: 'other', path: '/' }],
  ['http://other?q', { authority: 'other', path: '/?q' }],
  ['http://user@other/', undefined],
  ['ftp://other/', undefined],
  ['/a#b', undefined],
  ['', undefined],
])('%s', (url, expected) => expect(parseRequestTarget(url, 'h')).toEqual(expected))
