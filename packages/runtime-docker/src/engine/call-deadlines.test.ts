import { expect, it } from 'vitest'
import { callKind, type CallKind } from './call-deadlines.ts'

it.for<[string, string, CallKind]>([
  ['GET', '/_ping', 'ping'],
  ['GET', '/info', 'short'],
  ['GET', '/containers/abc/json?', 'short'],
  ['GET', '/containers/json?', 'list'],
  ['GET', '/images/json?', 'list'],
  ['GET', '/images/debian:12/json', 'short'],
  ['GET', '/networks?', 'list'],
  ['GET', '/networks/abc', 'short'],
  ['GET', '/volumes', 'list'],
  ['GET', '/volumes/abc', 'short'],
  ['GET', '/system/df?type=volume', 'measure'],
  ['GET', '/events?', 'events'],
  ['GET', '/containers/abc/export', 'export'],
  ['GET', '/containers/abc/archive?', 'export'],
  ['POST', '/containers/create?', 'change'],
  ['POST', '/containers/abc/start?', 'change'],
  ['POST', '/containers/abc/pause', 'change'],
  ['DELETE', '/containers/abc?', 'change'],
  ['DELETE', '/images/sandyard/image-home:1?', 'change'],
  ['POST', '/networks/abc/connect', 'change'],
  ['POST', '/networks/abc/disconnect', 'short'],
  ['POST', '/commit?', 'copy'],
  ['POST', '/images/load?', 'copy'],
  ['GET', '/images/get?', 'save'],
  ['PUT', '/containers/abc/archive?', 'copy'],
  ['POST', '/containers/abc/attach?', 'attach'],
  ['POST', '/build?', 'build'],
  ['POST', '/images/create?', 'pull'],
  ['POST', '/images/start/tag?', 'short'],
])('%s %s is of the kind "%s"', ([method, path, kind]) => {
  expect(callKind({ method, path })).toBe(kind)
})

it('treats a create of an image with a file as an import', () => {
  expect(callKind({ method: 'POST', path: '/images/create?', file: {} })).toBe('copy')
})

it('gives the images of a backup more time than those that the server makes', () => {
  expect(callKind({ method: 'POST', path: '/images/load?', options: { quiet: true } })).toBe('load')
  expect(callKind({ method: 'PUT', path: '/containers/abc/archive?', options: { noOverwriteDirNonDir: '1' } })).toBe('load')
})
