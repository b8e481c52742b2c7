import { expect, it } from 'vitest'
import { childPath, decodeLatin1, decodePath, pathArgument, toText } from './path-bytes.ts'

it.each([
  ['/tmp/文档 é \u{1f600}', '/tmp/文档 é \u{1f600}'],
  [Buffer.from('b\xffx', 'latin1'), 'b\udcffx'],
  [Buffer.from('d\xc3', 'latin1'), 'd\udcc3'],
  [Buffer.concat([Buffer.from('é\u{1f600}'), Buffer.of(0xed, 0xa0, 0x80)]), 'é\u{1f600}\udced\udca0\udc80'],
])('%j is %j as text, and comes back as it was', (given, text) => {
  const bytes = Buffer.from(given)
  expect(decodePath(bytes)).toBe(text)
  expect(Buffer.from(pathArgument(text))).toEqual(bytes)
})

it('childPath keeps the bytes of a name, and toText replaces those that are not UTF-8', () => {
  const name = decodeLatin1(Buffer.concat([Buffer.from('é'), Buffer.of(0xff)]).toString('latin1'))
  expect(Buffer.from(pathArgument(childPath('/d', name)))).toEqual(Buffer.concat([Buffer.from('/d/é'), Buffer.of(0xff)]))
  expect(toText(childPath('/', name))).toBe('/é\ufffd')
})
