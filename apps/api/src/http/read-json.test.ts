import { describe, expect, it } from 'vitest'
import { MAX_JSON_DEPTH, MAX_JSON_TEXT_BYTES, MAX_JSON_VALUES, readJson } from './read-json.ts'

const read = (text: string): unknown => readJson(Buffer.from(text))

describe('readJson', () => {
  it.each([
    '{"a":[1,"2",{"b":null}]}',
    '"[[[[ \\" {{{{ \\\\"',
    '{"\\\\":"\\\\","a\\"b,":[]}',
    '\uFEFF{"a":1}',
    `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`,
  ])('reads %j as JSON.parse does', (text) => {
    expect(read(text)).toEqual(JSON.parse(text.replace(/^\uFEFF/, '')))
  })

  it('removes members that could change a prototype, at every level', () => {
    const value = read('{"a":[{"__proto__":{"x":1},"b":1}],"constructor":{"prototype":{"y":1}},"\\u005f_proto__":2}')
    expect(JSON.stringify(value)).toBe('{"a":[{"b":1}]}')
    expect(JSON.stringify(read('{"constructor":"x"}'))).toBe('{"constructor":"x"}')
  })

  it.each([
    ['too deep', '['.repeat(MAX_JSON_DEPTH + 1), `it is nested deeper than ${MAX_JSON_DEPTH} levels`],
    ['objects too deep', '{"a":'.repeat(1_000_000), `it is nested deeper than ${MAX_JSON_DEPTH} levels`],
    ['too long', `{"a":"${'x'.repeat(MAX_JSON_TEXT_BYTES + 1)}"}`, 'it has a text of more than 512 KiB'],
    ['too long as a key', `{"${'\\u0061'.repeat(MAX_JSON_TEXT_BYTES / 6 + 1)}":1}`, 'it has a text of more than 512 KiB'],
    ['too many items', `[${'0,'.repeat(MAX_JSON_VALUES)}0]`, `it has more than ${MAX_JSON_VALUES} keys and items`],
    ['too many empty values', `[${'{},'.repeat(MAX_JSON_VALUES)}0]`, `it has more than ${MAX_JSON_VALUES} keys and items`],
  ])('refuses what is %s before it parses it', (_what, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('accepts a string of the maximum length', () => {
    const text = 'x'.repeat(MAX_JSON_TEXT_BYTES - 1)
    expect(read(`"${text}"`)).toBe(text)
  })

  it.each(['', '{', '"', '"\\"', '{"a":1}}', 'nonsense'])('refuses %j, which is not JSON', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ kind: 'invalid_argument' }))
  })
})
