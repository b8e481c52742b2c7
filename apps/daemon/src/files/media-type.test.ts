import { describe, expect, it } from 'vitest'
import { parseMediaType } from './media-type.ts'

describe('parseMediaType', () => {
  it.each<[string, string, Record<string, string>]>([
    ['application/octet-stream', 'application/octet-stream', {}],
    ['Application/Octet-Stream ; Charset=X;', 'application/octet-stream', { charset: 'X' }],
    ['multipart/form-data; boundary="a b"', 'multipart/form-data', { boundary: 'a b' }],
    ['form-data; name="file"; filename="/a/b.txt"', 'form-data', { name: 'file', filename: '/a/b.txt' }],
    ['form-data;name=file;filename=b.txt', 'form-data', { name: 'file', filename: 'b.txt' }],
    [String.raw`form-data; filename="a\"b\\c\d"`, 'form-data', { filename: String.raw`a"b\c\d` }],
    ['form-data; filename=""', 'form-data', { filename: '' }],
    ["form-data; filename*=utf-8''%2Fx%2F%C3%A9", 'form-data', { filename: '/x/Ã©' }],
    ["form-data; filename=plain; filename*=UTF-8'en'it''s", 'form-data', { filename: "it''s" }],
    ["form-data; filename=plain; filename*=latin9''x", 'form-data', { filename: 'plain' }],
    ['form-data; filename*0="/a/"; filename*1="b"', 'form-data', { filename: '/a/b' }],
    ["form-data; filename*0*=utf-8''%2Fa; filename*1*=%2Fb; filename*2=c", 'form-data', { filename: '/a/bc' }],
    ['form-data; name=a; name=a', 'form-data', { name: 'a' }],
  ])('%s', (header, type, parameters) => {
    const parsed = parseMediaType(header)
    expect(parsed).toMatchObject({ type, wellFormed: true })
    expect(Object.fromEntries(parsed?.parameters ?? [])).toEqual(parameters)
  })

  it.each(['application/octet-stream; =', 'form-data; name="open', 'form-data; filename=/a/b'])('keeps only the type of %s', (header) => {
    const parsed = parseMediaType(header)
    expect(parsed).toMatchObject({ wellFormed: false, parameters: new Map() })
  })

  it.each(['', ';', 'a/b/c', 'text plain', 'form-data name=x; y', 'form-data; name=a; name=b'])('refuses %j', (header) => {
    expect(parseMediaType(header)).toBeUndefined()
  })
})
